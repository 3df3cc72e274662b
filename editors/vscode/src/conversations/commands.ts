// Commands of conversations and messages: which conversation is meant, and what is done with it.

import * as vscode from 'vscode';

import type { Attachments } from './attachments';
import type { Chat } from './chat';
import type { Speaking } from './speaking';
import { titleOf } from './tree';
import type { Agent } from '../context';
import { oneLine, unadorned } from '../core/display';
import { STATUS_WORDS } from '../core/labels';
import type { ConversationSummary, Mode } from '../protocol.gen';

const MODES: readonly { mode: Mode; detail: string }[] = [
  { mode: 'ask', detail: 'Reading is free; everything else asks.' },
  { mode: 'edits', detail: 'Edits inside the workspace are free; everything else asks.' },
  { mode: 'plan', detail: 'Only reads; the agent proposes a plan.' },
  { mode: 'auto', detail: 'Everything that no rule denies, without asking. Has to be allowed in your configuration.' },
];

export class ConversationCommands {
  constructor(
    private readonly agent: Agent,
    private readonly chat: Chat,
    private readonly speaking: Speaking,
    private readonly attachments: Attachments,
  ) {}

  register(): vscode.Disposable[] {
    const on = (name: string, work: (given?: unknown) => unknown): vscode.Disposable => vscode.commands.registerCommand(`agentLs.${name}`, work);
    return [
      on('ask', (given) => this.ask(given, 'auto')),
      on('queue', (given) => this.ask(given, 'queue')),
      on('steer', (given) => this.ask(given, 'steer')),
      on('askWithSelection', () => this.attachments.selection() && this.chat.compose()),
      on('askAboutDiagnostics', () => this.attachments.problems() && this.chat.compose()),
      on('stop', () => this.speaking.stop()),
      on('hurry', () => this.speaking.hurry()),
      on('retry', () => this.speaking.retry()),
      on('focusChat', () => this.chat.compose()),
      on('conversation.new', () => this.create()),
      on('conversation.attach', (given) => this.attach(given)),
      on('conversation.resume', (given) => this.resume(given)),
      on('conversation.stop', (given) => this.stop(given)),
      on('conversation.fork', (given) => this.fork(given)),
      on('conversation.mergeBack', (given) => this.mergeBack(given)),
      on('conversation.rename', (given) => this.rename(given)),
      on('conversation.export', (given) => this.export(given)),
      on('conversation.archive', (given) => this.archive(given)),
      on('conversation.compact', (given) => this.compact(given)),
      on('conversation.switchModel', () => this.switchModel()),
      on('conversation.switchMode', () => this.switchMode()),
      on('conversation.refresh', () => this.agent.summaries.load()),
    ];
  }

  /** With words they are said; without, the input comes to the person. */
  private async ask(given: unknown, dispatch: 'auto' | 'queue' | 'steer'): Promise<void> {
    if (typeof given === 'string' && given.trim() !== '') {
      await this.speaking.send([{ type: 'text', text: given }], dispatch);
    } else {
      await this.chat.compose();
    }
  }

  private create(): Promise<void> {
    this.agent.follow.leave();
    return this.chat.compose();
  }

  private async attach(given: unknown): Promise<void> {
    const id = idOf(given) ?? (await this.choose('Open a conversation'));
    if (id === undefined) {
      return;
    }
    const answer = await this.agent.follow.attach(id);
    if (!answer.ok) {
      return this.agent.voice.trouble(answer.trouble);
    }
    await vscode.commands.executeCommand('agentLs.chat.focus');
  }

  /** Goes on with it: shown in the chat, and its queue let go. */
  private async resume(given: unknown): Promise<void> {
    await this.attach(given);
    if (this.agent.follow.current?.about.queueHeld === true) {
      await this.speaking.queue({ op: 'release' });
    }
  }

  private async stop(given: unknown): Promise<void> {
    const id = idOf(given);
    if (id !== undefined && id !== this.agent.follow.current?.id) {
      await this.agent.follow.attach(id);
    }
    await this.speaking.stop();
  }

  private async fork(given: unknown): Promise<void> {
    const id = idOf(given) ?? this.here();
    const answer = id && (await this.agent.voice.told(this.agent.link.command('agent/conversation/fork', { conversationId: id })));
    if (answer) {
      await this.attach(answer.conversation.id);
    }
  }

  private async mergeBack(given: unknown): Promise<void> {
    const id = idOf(given) ?? this.here();
    const into = id === undefined ? undefined : this.agent.summaries.get(id)?.parentId;
    if (id === undefined || into === undefined) {
      return this.agent.voice.say('This conversation is no fork of another one.');
    }
    if (await this.agent.voice.told(this.agent.link.command('agent/conversation/mergeBack', { from: id, into }))) {
      this.agent.voice.say('What came of it goes with the next message there.');
    }
  }

  private async rename(given: unknown): Promise<void> {
    const id = idOf(given) ?? this.here();
    if (id === undefined) {
      return;
    }
    const known = this.agent.summaries.get(id);
    const said = typeof given === 'string' && given !== id ? given : undefined;
    const title = said ?? (await vscode.window.showInputBox({ title: 'Rename the conversation', value: known?.title ?? '' }));
    if (title !== undefined && title.trim() !== '') {
      await this.agent.voice.told(this.agent.link.command('agent/conversation/update', { conversationId: id, title: title.trim() }));
    }
  }

  private async export(given: unknown): Promise<void> {
    const id = idOf(given) ?? this.here();
    const answer = id && (await this.agent.voice.told(this.agent.link.request('agent/conversation/export', { conversationId: id, format: 'markdown' })));
    if (!answer) {
      return;
    }
    const text = answer.text ?? (answer.path === undefined ? '' : await taken(vscode.Uri.file(answer.path)));
    const document = await vscode.workspace.openTextDocument({ content: text, language: 'markdown' });
    await vscode.window.showTextDocument(document);
  }

  private async archive(given: unknown): Promise<void> {
    const id = idOf(given) ?? this.here();
    if (id !== undefined && (await this.agent.voice.told(this.agent.link.command('agent/conversation/update', { conversationId: id, archived: true })))) {
      await this.agent.summaries.load();
    }
  }

  private async compact(given: unknown): Promise<void> {
    const id = idOf(given) ?? this.here();
    const instructions = typeof given === 'string' && given !== id ? given : undefined;
    if (id !== undefined) {
      await this.agent.voice.told(this.agent.link.command('agent/conversation/compact', { conversationId: id, ...(instructions && { instructions }) }));
    }
  }

  private async switchModel(): Promise<void> {
    const answer = await this.agent.voice.told(this.agent.link.request('agent/model/list', {}));
    const now = this.agent.follow.current?.about;
    const offers = (answer?.models ?? []).map((model) => ({
      label: `${model.id === now?.model && model.provider === now.provider ? '$(check) ' : ''}${unadorned(oneLine(model.id, 80))}`,
      description: unadorned(oneLine(model.provider, 40)),
      ...(model.available ? {} : { detail: unadorned(model.reason ?? 'not available') }),
      model,
    }));
    const placeHolder = offers.length === 0 ? 'No model was found: `agent-ls doctor` in a terminal says how to get one' : '';
    const chosen = answer && (await vscode.window.showQuickPick(offers, { title: 'Model of this conversation', placeHolder, matchOnDescription: true }));
    if (chosen !== undefined) {
      await this.update({ model: chosen.model.id, provider: chosen.model.provider });
    }
  }

  private async switchMode(): Promise<void> {
    const now = this.agent.follow.current?.about.mode;
    const offers = MODES.map(({ mode, detail }) => ({ label: `${mode === now ? '$(check) ' : ''}${mode}`, detail, mode }));
    const chosen = await vscode.window.showQuickPick(offers, { title: 'How much this conversation may do without asking' });
    if (chosen !== undefined) {
      await this.update({ mode: chosen.mode });
    }
  }

  private async update(change: { model?: string; provider?: string; mode?: Mode }): Promise<void> {
    const id = this.here() ?? (await this.speaking.begin());
    if (id !== undefined) {
      await this.agent.voice.told(this.agent.link.command('agent/conversation/update', { conversationId: id, ...change }));
    }
  }

  private here(): string | undefined {
    const { id } = this.agent.follow;
    if (id === undefined) {
      this.agent.voice.say('There is no conversation here yet.');
    }
    return id;
  }

  private async choose(title: string): Promise<string | undefined> {
    const offers = this.agent.summaries.all().map((summary) => ({ label: unadorned(titleOf(summary)), description: STATUS_WORDS[summary.status], id: summary.id }));
    const chosen = await vscode.window.showQuickPick(offers, { title, placeHolder: offers.length === 0 ? 'There is none in this workspace yet' : '' });
    return chosen?.id;
  }
}

/** Of what a tree, a lens or another command gives. */
/** Words can be given in the place of an id, so that one has to be told from them. */
const ID = /^(?:c|sub_)[0-9a-f]{16}$/;

function idOf(given: unknown): string | undefined {
  if (typeof given === 'object' && given !== null && typeof (given as ConversationSummary).id === 'string') {
    return (given as ConversationSummary).id;
  }
  return typeof given === 'string' && ID.test(given) ? given : undefined;
}

/** A long export is a file that whoever asked for it removes. */
async function taken(uri: vscode.Uri): Promise<string> {
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  await vscode.workspace.fs.delete(uri);
  return text;
}
