// The agent's changes that a person may review, as the daemon lists them for the conversation that the chat shows.
//
// Owns when they are asked for again, and keeping and undoing. The daemon decides whether a hunk may still be undone.

import * as vscode from 'vscode';

import type { Link, Trouble } from '../client';
import type { Follow } from '../conversations/follow';
import { open } from '../core/review';
import type { FileReview, ReviewHunk } from '../protocol.gen';

const QUIET_MS = 150;

export class Changes implements vscode.Disposable {
  /** Why there are none, where this daemon cannot tell. */
  sentence: string | undefined;
  private held: FileReview[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onChange = this.changed.event;

  constructor(
    private readonly link: Link,
    private readonly follow: Follow,
  ) {
    this.subscriptions = [
      follow.onNews((news) => {
        const touched = news.kind === 'events' && news.events.some((event) => event.kind === 'run' || isChange(event.entity));
        if (news.kind === 'attached' || touched) {
          this.soon();
        }
      }),
      vscode.workspace.onDidSaveTextDocument((document) => this.of(document.uri) !== undefined && this.soon()),
    ];
  }

  /** Files with hunks that are still open. */
  files(): FileReview[] {
    return this.held.filter((file) => open(file).length > 0);
  }

  of(uri: vscode.Uri): FileReview | undefined {
    return this.files().find((file) => vscode.Uri.parse(file.uri).toString() === uri.toString());
  }

  /** A sentence about what became of it, where there is one; or the trouble. */
  async decide(verb: 'keep' | 'undo', file: FileReview, hunk?: ReviewHunk): Promise<string | Trouble | undefined> {
    const id = this.follow.current?.id;
    if (id === undefined) {
      return undefined;
    }
    const answer = await this.link.command(`agent/change/${verb}`, { conversationId: id, uri: file.uri, ...(hunk && { hunkId: hunk.id }) });
    await this.load();
    return answer.ok ? answer.value.note : answer.trouble;
  }

  async load(): Promise<void> {
    const id = this.follow.current?.id;
    if (id === undefined) {
      return this.take([]);
    }
    const answer = await this.link.request('agent/change/list', { conversationId: id });
    this.sentence = !answer.ok && answer.trouble.code === 'unsupported' ? 'This daemon keeps no list of changes yet; a newer agent-ls does.' : undefined;
    if (id === this.follow.current?.id) {
      this.take(answer.ok ? answer.value.changes : []);
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(), QUIET_MS);
  }

  private take(files: FileReview[]): void {
    this.held = files;
    void vscode.commands.executeCommand('setContext', 'agentLs.changes', this.files().length);
    this.changed.fire();
  }
}

function isChange(entity: object): boolean {
  return 'kind' in entity && entity.kind === 'file_change' && 'status' in entity && entity.status === 'completed';
}
