// The card of a change, at the lines that it would change: a comment thread whose reply box is the reason.
//
// Owns threads and where they stand. Never takes the focus: a thread is made, opened and taken away beside the cursor.

import * as vscode from 'vscode';

import { changes, flags, heading, markdown, type Change } from './card';
import { settings } from '../config';
import type { Agent } from '../context';
import { located } from '../core/diff';
import { editable } from '../core/edits';
import type { Held } from '../core/requests';
import type { Request } from '../protocol.gen';

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
    const wanted = settings().comments ? this.agent.book.all() : [];
    for (const [key, drawn] of this.drawn) {
      if (!wanted.some(({ request }) => request.id === drawn.requestId && request.digest === drawn.digest)) {
        this.drawn.delete(key);
        drawn.thread.dispose();
      }
    }
    for (const { request } of wanted) {
      for (const change of changes(request)) {
        const key = `${request.id} ${change.uri.toString()}`;
        const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === change.uri.toString());
        if (!this.drawn.has(key) && document !== undefined) {
          this.drawn.set(key, this.put(request, change, document));
        }
      }
    }
  }

  private put(request: Request, changed: Change, document: vscode.TextDocument): Drawn {
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
    return { thread, digest: request.digest, requestId: request.id };
  }
}
