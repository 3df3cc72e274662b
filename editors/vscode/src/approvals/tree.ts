// The view "Approvals": what waits for the person, each with its answers beside it, and a badge that counts.
//
// A native tree, so that screen readers and keys work as everywhere else.

import * as vscode from 'vscode';

import { flags, gist, heading, markdown } from './card';
import type { Agent } from '../context';
import { editable } from '../core/edits';
import type { Held } from '../core/requests';
import { spokenRequest } from '../core/labels';
import { oneLine } from '../core/display';

export type Node = { readonly kind: 'request'; readonly id: string; readonly digest: string } | { readonly kind: 'line'; readonly of: string; readonly text: string };

const MOST_LINES = 30;

export class ApprovalsTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable[];
  private nodes = new Map<string, Node & { kind: 'request' }>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly agent: Agent) {
    this.view = vscode.window.createTreeView('agentLs.approvals', { treeDataProvider: this });
    this.subscriptions = [this.view, agent.onRequests(() => this.refresh()), agent.summaries.onChange(() => this.refresh())];
  }

  get visible(): boolean {
    return this.view.visible;
  }

  get selected(): string | undefined {
    const node = this.view.selection[0];
    return node === undefined ? undefined : node.kind === 'request' ? node.id : node.of;
  }

  /** Shows it without taking the focus. */
  async reveal(held: Held): Promise<void> {
    const node = this.nodes.get(held.request.id);
    if (node !== undefined) {
      await this.view.reveal(node, { select: true, focus: false, expand: true });
    }
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      const nodes = this.agent.book.all().map(({ request }) => ({ kind: 'request' as const, id: request.id, digest: request.digest }));
      this.nodes = new Map(nodes.map((one) => [one.id, one]));
      return nodes;
    }
    const held = node.kind === 'request' ? this.agent.book.get(node.id) : undefined;
    if (held === undefined) {
      return [];
    }
    const lines = gist(held.request);
    const more = lines.length > MOST_LINES ? [`… ${lines.length - MOST_LINES} more lines: show all of it`] : [];
    return [...lines.slice(0, MOST_LINES), ...more].map((text) => ({ kind: 'line', of: held.request.id, text }));
  }

  getParent(node: Node): Node | undefined {
    return node.kind === 'line' ? this.nodes.get(node.of) : undefined;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === 'line') {
      const item = new vscode.TreeItem(oneLine(node.text, 400));
      item.command = { command: 'agentLs.approvals.details', title: 'Show All of It', arguments: [node.of] };
      return item;
    }
    const held = this.agent.book.get(node.id);
    if (held === undefined) {
      return new vscode.TreeItem('…');
    }
    const { request } = held;
    const asked = this.agent.summaries.titleOf(request.conversationId);
    const item = new vscode.TreeItem(`#${request.number} ${heading(request)}`, vscode.TreeItemCollapsibleState.Expanded);
    item.id = `${request.id}/${request.digest}`;
    item.description = oneLine(asked, 60);
    item.tooltip = markdown(request);
    item.contextValue = flags(request, editable(request));
    item.iconPath = new vscode.ThemeIcon(request.kind === 'approval' ? 'shield' : 'question', new vscode.ThemeColor('list.warningForeground'));
    item.accessibilityInformation = { label: spokenRequest(request, asked), role: 'treeitem' };
    return item;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  private refresh(): void {
    const count = this.agent.book.all().length;
    this.view.badge = count === 0 ? undefined : { value: count, tooltip: count === 1 ? '1 approval waits for you' : `${count} approvals wait for you` };
    this.changed.fire();
  }
}
