// The view "Changes": files that the agent has changed, with the hunks that nobody has reviewed yet.

import * as vscode from 'vscode';

import type { Agent } from '../context';
import { oneLine } from '../core/display';
import { linesOf, open, weight } from '../core/review';
import type { FileReview, ReviewHunk } from '../protocol.gen';

export type ChangeNode = { readonly file: FileReview; readonly hunk?: ReviewHunk };

export class ChangesTree implements vscode.TreeDataProvider<ChangeNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<ChangeNode>;
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly agent: Agent) {
    this.view = vscode.window.createTreeView('agentLs.changes', { treeDataProvider: this });
    this.subscriptions = [this.view, agent.changes.onChange(() => this.refresh())];
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    if (node === undefined) {
      return this.agent.changes.files().map((file) => ({ file }));
    }
    return node.hunk === undefined ? open(node.file).map((hunk) => ({ file: node.file, hunk })) : [];
  }

  getTreeItem({ file, hunk }: ChangeNode): vscode.TreeItem {
    const uri = vscode.Uri.parse(file.uri);
    if (hunk === undefined) {
      const count = open(file).length;
      const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
      item.description = `${vscode.workspace.asRelativePath(vscode.Uri.joinPath(uri, '..'))} · ${count === 1 ? '1 change' : `${count} changes`}`;
      item.iconPath = vscode.ThemeIcon.File;
      item.contextValue = 'file.open';
      item.command = { command: 'agentLs.review.open', title: 'Review Changes', arguments: [file.uri] };
      return item;
    }
    const { first, last } = linesOf(hunk);
    const said = (hunk.new || hunk.old).split('\n').find((line) => line.trim() !== '') ?? '';
    const item = new vscode.TreeItem(oneLine(said.trim(), 60) || 'an empty line');
    item.description = `${weight(hunk)} · line ${first + 1}`;
    item.iconPath = new vscode.ThemeIcon('diff-modified');
    item.contextValue = 'hunk.open';
    item.accessibilityInformation = { label: `Change at line ${first + 1}, ${weight(hunk)}`, role: 'treeitem' };
    const options = { selection: new vscode.Range(first, 0, Math.max(first, last), 0) };
    item.command = { command: 'vscode.open', title: 'Show', arguments: [uri, options] };
    return item;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  private refresh(): void {
    const files = this.agent.changes.files();
    const hunks = files.reduce((sum, file) => sum + open(file).length, 0);
    this.view.message = this.agent.changes.sentence;
    this.view.badge = hunks === 0 ? undefined : { value: hunks, tooltip: `${hunks} changes to review` };
    this.changed.fire();
  }
}
