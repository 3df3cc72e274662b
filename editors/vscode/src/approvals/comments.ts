// The card of a change, at the lines that it would change: a comment thread whose reply box is the reason.
//
// Owns threads and where they stand. Never takes the focus: a thread is made, opened and taken away beside the cursor.

import * as vscode from 'vscode';

import { change, flags, heading, markdown } from './card';
import { settings } from '../config';
import type { Agent } from '../context';
import { located } from '../core/diff';
import { editable } from '../core/edits';
import type { Held } from '../core/requests';

interface Drawn {
  readonly thread: vscode.CommentThread;
  readonly digest: string;
  readonly requestId: string;
}

export class Comments implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController('agentLs', 'Agent');
  private readonly drawn = new Map<string, Drawn>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly agent: Agent) {
    this.controller.options = { placeHolder: 'A reason, if you deny it', prompt: 'A reason, if you deny it' };
    this.subscriptions = [
      agent.onRequests(() => this.draw()),
      vscode.workspace.onDidOpenTextDocument(() => this.draw()),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('agentLs.approvals.comments') && this.draw()),
    ];
  }

  /** The request that a button of a thread means, and the digest that it showed. */
  of(thread: vscode.CommentThread): { held: Held; digest: string } | undefined {
    const drawn = [...this.drawn.values()].find((one) => one.thread === thread);
    const held = drawn === undefined ? undefined : this.agent.book.get(drawn.requestId);
    return drawn === undefined || held === undefined ? undefined : { held, digest: drawn.digest };
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.controller.dispose();
  }

  private draw(): void {
    const wanted = settings().comments ? this.agent.book.all().filter(({ request }) => change(request) !== undefined) : [];
    for (const [id, drawn] of this.drawn) {
      if (!wanted.some(({ request }) => request.id === id && request.digest === drawn.digest)) {
        this.drawn.delete(id);
        drawn.thread.dispose();
      }
    }
    for (const held of wanted) {
      if (!this.drawn.has(held.request.id)) {
        this.put(held);
      }
    }
  }

  private put({ request }: Held): void {
    const changed = change(request);
    const document = changed && vscode.workspace.textDocuments.find((one) => one.uri.toString() === changed.uri.toString());
    if (changed === undefined || document === undefined) {
      return;
    }
    const { first, last } = located(document.getText(), changed.diff);
    const end = Math.min(Math.max(first, last), document.lineCount - 1);
    const range = new vscode.Range(Math.min(first, document.lineCount - 1), 0, end, 0);
    const asked = this.agent.summaries.titleOf(request.conversationId);
    const comment: vscode.Comment = {
      body: markdown(request),
      mode: vscode.CommentMode.Preview,
      author: { name: 'agent' },
      ...(asked === '' ? {} : { label: `in “${asked}”` }),
    };
    const thread = this.controller.createCommentThread(changed.uri, range, [comment]);
    thread.label = `#${request.number} ${heading(request)}`;
    thread.contextValue = flags(request, editable(request));
    thread.canReply = true;
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.drawn.set(request.id, { thread, digest: request.digest, requestId: request.id });
  }
}
