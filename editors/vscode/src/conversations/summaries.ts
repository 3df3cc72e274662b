// The conversations of this window's workspaces, as the daemon summarizes them, newest first.

import * as vscode from 'vscode';

import type { Link } from '../client';
import { oneLine } from '../core/display';
import type { ConversationSummary } from '../protocol.gen';

const PAGE = 100;

export class Summaries implements vscode.Disposable {
  private held = new Map<string, ConversationSummary>();
  private readonly changed = new vscode.EventEmitter<readonly string[]>();
  /** Fires with the ids of conversations that are gone for good. */
  readonly onChange = this.changed.event;

  constructor(private readonly link: Link) {
    link.on('agent/conversation/changed', ({ conversations, deleted }) => {
      conversations.forEach((summary) => this.held.set(summary.id, summary));
      deleted?.forEach((id) => this.held.delete(id));
      this.changed.fire(deleted ?? []);
    });
  }

  async load(): Promise<void> {
    const found = new Map<string, ConversationSummary>();
    for (const workspace of workspaces()) {
      const answer = await this.link.request('agent/conversation/list', { workspace, limit: PAGE });
      if (answer.ok) {
        answer.value.conversations.forEach((summary) => found.set(summary.id, summary));
      }
    }
    this.held = found;
    this.changed.fire([]);
  }

  all(): ConversationSummary[] {
    return [...this.held.values()]
      .filter((summary) => summary.archived !== true)
      .sort((one, other) => other.updatedAt.localeCompare(one.updatedAt));
  }

  get(id: string): ConversationSummary | undefined {
    return this.held.get(id);
  }

  titleOf(id: string): string {
    return oneLine(this.held.get(id)?.title ?? '', 80);
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** Folders on a disk; the one of the active editor first. */
export function workspaces(): string[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
  const active = vscode.window.activeTextEditor?.document.uri;
  const here = active === undefined ? undefined : vscode.workspace.getWorkspaceFolder(active);
  folders.sort((one, other) => Number(other === here) - Number(one === here));
  return folders.map((folder) => folder.uri.toString());
}
