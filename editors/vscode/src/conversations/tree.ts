// The view "Conversations": those of this window's workspaces, the one that the chat shows marked.

import * as vscode from 'vscode';

import type { Agent } from '../context';
import { oneLine } from '../core/display';
import { STATUS_WORDS } from '../core/labels';
import type { ConversationSummary } from '../protocol.gen';

const ICONS: Record<string, string> = { idle: 'comment', queued: 'clock', running: 'loading~spin', waiting: 'bell-dot', stopping: 'debug-stop' };

export class ConversationsTree implements vscode.TreeDataProvider<ConversationSummary>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly agent: Agent) {
    this.subscriptions = [
      vscode.window.createTreeView('agentLs.conversations', { treeDataProvider: this }),
      agent.summaries.onChange(() => this.changed.fire()),
      agent.follow.onNews((news) => news.kind === 'attached' && this.changed.fire()),
    ];
  }

  getChildren(node?: ConversationSummary): ConversationSummary[] {
    return node === undefined ? this.agent.summaries.all() : [];
  }

  getTreeItem(summary: ConversationSummary): vscode.TreeItem {
    const title = titleOf(summary);
    const here = this.agent.follow.current?.id === summary.id;
    const state = STATUS_WORDS[summary.status];
    const item = new vscode.TreeItem(title);
    item.id = summary.id;
    const began = summary.forkedFrom === undefined ? '' : `fork of ${oneLine(summary.forkedFrom.title || summary.forkedFrom.conversationId, 60)}`;
    item.description = [here ? 'in the chat' : '', summary.status === 'idle' ? '' : state, began].filter((part) => part !== '').join(' · ');
    item.tooltip = [title, ...(began === '' ? [] : [began]), `${state}, ${oneLine(summary.model, 60)}, mode ${summary.mode}`, oneLine(summary.lastText, 300)].join('\n');
    item.iconPath = new vscode.ThemeIcon(ICONS[summary.status] ?? 'comment');
    item.contextValue = flagsOf(summary);
    item.command = { command: 'agentLs.conversation.attach', title: 'Open Conversation', arguments: [summary] };
    item.accessibilityInformation = { label: `Conversation ${title}, ${state}${here ? ', shown in the chat' : ''}`, role: 'treeitem' };
    return item;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }
}

export function titleOf(summary: ConversationSummary): string {
  return oneLine(summary.title || summary.lastText || 'New conversation', 80);
}

function flagsOf(summary: ConversationSummary): string {
  const flags = ['conversation'];
  if (summary.status === 'running' || summary.status === 'waiting') {
    flags.push('active');
  }
  if (summary.queueHeld === true) {
    flags.push('held');
  }
  if (summary.relation === 'fork') {
    flags.push('fork');
  }
  return flags.join('.');
}
