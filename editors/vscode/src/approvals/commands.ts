// Commands of approvals: which card a key or a click means, and what is done with it.
//
// Owns that a key never answers a card that is not on the screen. Does not own sending answers (answers.ts).

import * as vscode from 'vscode';

import { label, type Scope } from './answers';
import { body, change, changeOf, changes, heading, isNotebook, paperName } from './card';
import type { Comments } from './comments';
import { SCHEME, textOf, type Editing } from './editing';
import type { ApprovalsTree, Node } from './tree';
import { settings } from '../config';
import type { Agent } from '../context';
import { draftOf } from '../core/edits';
import { located } from '../core/diff';
import { oneLine, unadorned } from '../core/display';
import { isPrefix, type Held } from '../core/requests';
import type { Request } from '../protocol.gen';

export interface Parts {
  readonly tree: ApprovalsTree;
  readonly comments: Comments;
  readonly editing: Editing;
  /** Whether the chat shows this conversation just now. */
  chatShows(conversationId: string): boolean;
  focusChat(): Promise<void>;
}

/** What a command may be given: by a tree, a lens, a comment, another command; by a key nothing. */
type Given = Node | { readonly id: string; readonly digest: string } | vscode.CommentThread | string | undefined;

interface Meant {
  readonly held: Held;
  readonly digest: string;
  readonly shown: boolean;
}

export class ApprovalCommands {
  private current: number | undefined;

  constructor(
    private readonly agent: Agent,
    private readonly parts: Parts,
  ) {}

  register(): vscode.Disposable[] {
    const on = (name: string, work: (given: Given) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`agentLs.approvals.${name}`, work);
    const reply = (name: string, work: (said: vscode.CommentReply) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`agentLs.approvals.thread.${name}`, work);
    return [
      on('allowOnce', (given) => this.allow(given, 'once')),
      on('allowConversation', (given) => this.allow(given, 'conversation')),
      on('allowWorkspace', (given) => this.allow(given, 'workspace')),
      on('allowPrefix', (given) => this.allowPrefix(given)),
      on('choose', (given) => this.choose(given)),
      on('deny', (given) => this.deny(given)),
      on('editAndAllow', (given) => this.edit(given)),
      on('allowAsEdited', () => this.parts.editing.allow()),
      on('details', (given) => this.details(given)),
      on('answer', (given) => this.answer(given)),
      on('next', () => this.go(1)),
      on('previous', () => this.go(-1)),
      reply('allow', (said) => this.threaded(said, (held, digest) => this.agent.answers.allow(held, 'once', { digest, shown: true }))),
      reply('allowConversation', (said) => this.threaded(said, (held, digest) => this.agent.answers.allow(held, 'conversation', { digest, shown: true }))),
      reply('deny', (said) => this.threaded(said, (held, digest) => this.agent.answers.deny(held, said.text, { digest, shown: true }))),
      reply('edit', (said) => this.threaded(said, (held) => this.parts.editing.begin(held))),
    ];
  }

  private async allow(given: Given, scope: Scope): Promise<void> {
    if (given === undefined && vscode.window.activeTextEditor?.document.uri.scheme === SCHEME) {
      return this.parts.editing.allow();
    }
    const meant = this.meant(given);
    if (meant === undefined) {
      return;
    }
    if (meant.held.request.kind !== 'approval') {
      return this.inChat(meant.held);
    }
    await this.agent.answers.allow(meant.held, scope, meant);
  }

  private async answer(given: Given): Promise<void> {
    const meant = this.meant(given);
    await (meant && this.inChat(meant.held));
  }

  /** Questions and plans are answered there, in their own conversation. */
  private async inChat({ request }: Held): Promise<void> {
    if (this.agent.follow.current?.id !== request.conversationId) {
      await this.agent.follow.attach(request.conversationId);
    }
    await this.parts.focusChat();
  }

  /** Whatever begins like this command, for this conversation. */
  private async allowPrefix(given: Given): Promise<void> {
    const meant = this.meant(given);
    const option = meant?.held.request.options.find(isPrefix);
    if (meant !== undefined && option === undefined) {
      this.agent.voice.say(`No rule for what begins like #${meant.held.request.number} is offered; it can be allowed as it is.`);
    } else if (meant !== undefined && option !== undefined) {
      await this.agent.answers.choose(meant.held, option, meant);
    }
  }

  /** Every way in which it can be allowed, each with the rule that it would keep. */
  private async choose(given: Given): Promise<void> {
    const meant = this.meant(given);
    const options = meant?.held.request.options.filter(({ decision }) => decision === 'allow') ?? [];
    if (meant === undefined || meant.held.request.kind !== 'approval') {
      return meant && this.inChat(meant.held);
    }
    const offers = options.map((option) => ({
      label: unadorned(oneLine(option.label, 120)),
      detail: option.rule === undefined ? 'Keeps no rule.' : unadorned(`Keeps the rule ${oneLine(option.rule, 400)}`),
      option,
    }));
    const chosen = await vscode.window.showQuickPick(offers, { title: unadorned(`Allow ${label(meant.held.request)}`), placeHolder: 'Escape: nothing is decided.' });
    if (chosen !== undefined) {
      await this.agent.answers.choose(meant.held, chosen.option, { ...meant, shown: true });
    }
  }

  private async deny(given: Given): Promise<void> {
    const meant = this.meant(given);
    if (meant === undefined) {
      return;
    }
    const reason = await vscode.window.showInputBox({
      title: `Deny ${label(meant.held.request)}`,
      prompt: 'Why? The agent is told. Empty: without a reason. Escape: nothing is decided.',
      ignoreFocusOut: true,
    });
    if (reason !== undefined) {
      await this.agent.answers.deny(meant.held, reason, { ...meant, shown: true });
    }
  }

  private async edit(given: Given): Promise<void> {
    const meant = this.meant(given);
    if (meant !== undefined) {
      await this.parts.editing.begin(meant.held);
    }
  }

  /** All of it: a change as a diff, everything else as text. */
  private async details(given: Given): Promise<void> {
    const meant = this.meant(given);
    if (meant === undefined) {
      return;
    }
    const { request } = meant.held;
    const changed = change(request);
    const before = changed === undefined ? undefined : await textOf(changed.uri);
    const draft = changed === undefined ? undefined : draftOf(request, before);
    if (changed !== undefined && draft?.kind === 'file') {
      const name = paperName(changed.uri);
      const after = this.agent.papers.put(`${folderOf(request)}/${name}`, draft.text);
      const stays = before !== undefined && !isNotebook(changed.uri);
      const left = stays ? changed.uri : this.agent.papers.put(`${folderOf(request)}/before/${name}`, before ?? '');
      await vscode.commands.executeCommand('vscode.diff', left, after, `#${request.number} ${heading(request)}`);
      return;
    }
    const { text, language } = body(request);
    const name = oneLine(request.tool ?? request.kind, 60).replaceAll('/', '∕');
    await this.agent.papers.show(`${folderOf(request)}/${name}`, text, language);
  }

  /** Goes to where the next card stands; that is a command of the person, so the cursor goes with it. */
  private async go(step: 1 | -1): Promise<void> {
    const held = this.agent.book.beside(this.current, step);
    if (held === undefined) {
      this.agent.voice.say(this.nothing());
      return;
    }
    this.current = held.request.number;
    const changed = change(held.request);
    if (changed !== undefined && !isNotebook(changed.uri) && (await textOf(changed.uri)) !== undefined) {
      const document = await vscode.workspace.openTextDocument(changed.uri);
      const { first } = located(document.getText(), changed.diff);
      const at = new vscode.Position(Math.min(first, document.lineCount - 1), 0);
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    } else if (held.request.kind === 'approval') {
      await vscode.commands.executeCommand('agentLs.approvals.focus');
    } else {
      await this.inChat(held);
    }
    await this.parts.tree.reveal(held);
  }

  private async threaded(said: vscode.CommentReply, work: (held: Held, digest: string) => unknown): Promise<void> {
    const found = this.parts.comments.of(said.thread);
    await (found === undefined ? this.agent.voice.say('That request no longer waits.') : work(found.held, found.digest));
  }

  /** The card that is meant; says which there are where that cannot be told. */
  private meant(given: Given): Meant | undefined {
    if (typeof given === 'string' || (given !== undefined && 'kind' in given) || (given !== undefined && 'digest' in given)) {
      const id = typeof given === 'string' ? given : 'kind' in given ? (given.kind === 'request' ? given.id : given.of) : given.id;
      const held = this.agent.book.get(id);
      if (held === undefined) {
        this.agent.voice.say('That request no longer waits.');
        return undefined;
      }
      const digest = typeof given !== 'string' && 'digest' in given ? given.digest : held.request.digest;
      return { held, digest, shown: true };
    }
    if (given !== undefined) {
      const found = this.parts.comments.of(given);
      return found && { held: found.held, digest: found.digest, shown: true };
    }
    const held = this.byKey();
    return held && { held, digest: held.request.digest, shown: this.shown(held) };
  }

  /** The card where the person is: at the cursor, chosen in the tree, gone to last, or the only one. */
  private byKey(): Held | undefined {
    const all = this.agent.book.all();
    const editor = vscode.window.activeTextEditor;
    const here = all.filter(({ request }) => changeOf(request, editor?.document.uri) !== undefined);
    const chosen = this.parts.tree.visible ? all.find(({ request }) => request.id === this.parts.tree.selected) : undefined;
    const last = all.find(({ request }) => request.number === this.current);
    const found = (here.length === 1 ? here[0] : undefined) ?? chosen ?? last ?? (all.length === 1 ? all[0] : undefined);
    if (found === undefined) {
      this.agent.voice.say(all.length === 0 ? this.nothing() : `${all.length} approvals wait; go to one with “Agent: Next Approval”.`);
    }
    return found;
  }

  private nothing(): string {
    const { elsewhere } = this.agent.book;
    return elsewhere === 0 ? 'Nothing waits for you.' : `Nothing waits here, ${elsewhere} elsewhere: in another window or folder. \`agent-ls pending\` in a terminal lists all.`;
  }

  private shown({ request }: Held): boolean {
    const open = vscode.window.visibleTextEditors.some(({ document, visibleRanges }) => {
      const changed = changeOf(request, document.uri);
      // Of a patch over several files one alone is not all of it; its comment shows all.
      if (changed === undefined || (changes(request).length > 1 && !settings().comments)) {
        return false;
      }
      const { first } = located(document.getText(), changed.diff);
      const line = Math.min(first, document.lineCount - 1);
      return visibleRanges.some((range) => range.start.line <= line && line <= range.end.line);
    });
    return open || this.parts.tree.visible || this.parts.chatShows(request.conversationId) || detailed(request);
  }
}

/** Of one digest: what stands in an editor after the request was revised is not what would be allowed. */
function folderOf({ number, digest }: Request): string {
  return `requests/${number}/${digest.slice(0, 12)}`;
}

function detailed(request: Request): boolean {
  const folder = `/${folderOf(request)}/`;
  return vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === 'agentls' && document.uri.path.startsWith(folder));
}
