// What the chat's page asks for, done.
//
// Owns the way from a message of the page to a command. Does not own the page (chat.ts) nor what commands do.

import * as vscode from 'vscode';

import type { Attachments } from './attachments';
import type { Chat } from './chat';
import type { FromPage } from './messages';
import { files, type Speaking } from './speaking';
import type { Agent } from '../context';
import { oneLine } from '../core/display';
import { linkOf } from '../core/links';

const BLOB_PART = 1_048_576;
const LONGEST_BLOB = 32 * BLOB_PART;

/** What a `/word` of the input runs; the page lists the same names. */
const WORDS: Record<string, string> = {
  new: 'agentLs.conversation.new',
  open: 'agentLs.conversation.attach',
  model: 'agentLs.conversation.switchModel',
  mode: 'agentLs.conversation.switchMode',
  compact: 'agentLs.conversation.compact',
  fork: 'agentLs.conversation.fork',
  rename: 'agentLs.conversation.rename',
  export: 'agentLs.conversation.export',
  review: 'agentLs.review.open',
  locks: 'agentLs.locks.show',
  rules: 'agentLs.rules.show',
  status: 'agentLs.daemon.status',
  log: 'agentLs.daemon.log',
  restart: 'agentLs.daemon.restart',
  install: 'agentLs.install',
  settings: 'agentLs.settings',
  stop: 'agentLs.stop',
  hurry: 'agentLs.hurry',
  retry: 'agentLs.retry',
  folder: 'workbench.action.files.openFolder',
};

export class ChatDeeds {
  constructor(
    private readonly agent: Agent,
    private readonly chat: Chat,
    private readonly speaking: Speaking,
    private readonly attachments: Attachments,
  ) {}

  async handle(said: FromPage): Promise<void> {
    switch (said.type) {
      case 'send':
        return this.send(said);
      case 'draft':
        this.agent.follow.drafts.write(this.agent.follow.id, said.text);
        return;
      case 'stop':
        return this.speaking.stop();
      case 'answer':
        return this.answer(said);
      case 'edit':
      case 'details':
        await vscode.commands.executeCommand(`agentLs.approvals.${said.type === 'edit' ? 'editAndAllow' : 'details'}`, said.requestId);
        return;
      case 'queue':
        return this.queue(said);
      case 'complete':
        this.chat.post({ type: 'completions', token: said.token, entries: await files(said.text) });
        return;
      case 'attach':
        return this.attachments.pick();
      case 'unchip':
        this.attachments.remove(said.at);
        return;
      default:
        return this.more(said);
    }
  }

  private async more(said: FromPage): Promise<void> {
    switch (said.type) {
      case 'link':
        return this.link(said.href);
      case 'file':
        return this.file(said.uri, said.line);
      case 'blob':
        return this.blob(said.digest, said.title);
      case 'text':
        return this.agent.papers.show(`text/${oneLine(said.title, 60).replaceAll('/', '∕')}`, said.text, said.language);
      case 'open':
        await this.agent.follow.attach(said.conversationId);
        return;
      case 'retry':
      case 'hurry':
        return this.done(this.agent.link.command(`agent/run/${said.type}`, { runId: said.runId }));
      case 'stopItem':
        return this.done(this.agent.link.command('agent/run/interrupt', { runId: said.runId, itemId: said.itemId }));
      case 'command': {
        const command = Object.hasOwn(WORDS, said.name) ? WORDS[said.name] : undefined;
        await (command === undefined ? this.agent.voice.say(`There is no /${said.name}.`) : vscode.commands.executeCommand(command, said.argument || undefined));
        return;
      }
    }
  }

  private async send(said: FromPage & { type: 'send' }): Promise<void> {
    const ok = await this.speaking.send(said.content, said.dispatch, said.conversationId);
    this.chat.post({ type: 'sent', token: said.token, ok });
  }

  private async answer(said: FromPage & { type: 'answer' }): Promise<void> {
    const held = this.agent.book.get(said.requestId);
    if (held === undefined) {
      return this.agent.voice.say('That request no longer waits.');
    }
    const { decision, optionId, scope, reason, answers } = said;
    const given = { decision, ...(optionId && { optionId }), ...(scope && { scope }), ...(reason && { reason }), ...(answers && { answers }) };
    await this.agent.answers.give(held, given, { digest: said.digest, shown: true });
  }

  private queue({ op, runId, text, before }: FromPage & { type: 'queue' }): Promise<void> {
    return this.speaking.queue({
      op,
      ...(runId === undefined ? {} : { runId }),
      ...(before === undefined ? {} : { before }),
      ...(text === undefined ? {} : { content: [{ type: 'text', text }] }),
    });
  }

  /** A link in text of others: an address of the web, which VS Code asks about, or a file of the workspace. */
  private async link(href: string): Promise<void> {
    const found = linkOf(href);
    if (found?.kind === 'web') {
      await vscode.env.openExternal(vscode.Uri.parse(found.href));
      return;
    }
    for (const folder of found?.kind === 'file' ? (vscode.workspace.workspaceFolders ?? []) : []) {
      const path = found?.kind === 'file' ? found.path : '';
      const uri = path.startsWith('/') ? folder.uri.with({ path }) : vscode.Uri.joinPath(folder.uri, path);
      if (uri.path.startsWith(`${folder.uri.path}/`) && (await exists(uri))) {
        return this.file(uri.toString(), found?.kind === 'file' ? found.line : undefined);
      }
    }
    this.agent.voice.say('That link leads nowhere from here.');
  }

  private async file(given: string, line?: number): Promise<void> {
    const uri = vscode.Uri.parse(given);
    if (uri.scheme !== 'file' || !(await exists(uri))) {
      return this.agent.voice.say('That is no file of this machine.');
    }
    const at = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0);
    await vscode.commands.executeCommand('vscode.open', uri, line === undefined ? {} : { selection: new vscode.Range(at, at) });
  }

  private async blob(digest: string, title: string): Promise<void> {
    const parts: Uint8Array[] = [];
    for (let offset = 0, size = 1; offset < size && offset < LONGEST_BLOB; ) {
      const part = await this.agent.voice.told(this.agent.link.request('agent/blob/read', { digest, offset, limit: BLOB_PART }));
      if (part === undefined) {
        return;
      }
      const data = Buffer.from(part.data, 'base64');
      parts.push(data);
      size = part.size;
      offset += Math.max(1, data.byteLength);
    }
    await this.agent.papers.show(`blob/${oneLine(title, 60).replaceAll('/', '∕')}`, Buffer.concat(parts).toString('utf8'));
  }

  private async done(asked: ReturnType<Agent['link']['command']>): Promise<void> {
    await this.agent.voice.told(asked);
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    return (await vscode.workspace.fs.stat(uri)).type === vscode.FileType.File;
  } catch {
    return false;
  }
}
