// The view "Locks": which files and folders are held, by which conversation, and who waits for them.

import * as vscode from 'vscode';

import type { Agent } from '../context';
import { unadorned } from '../core/display';
import { fileName } from '../core/labels';
import type { Lock } from '../protocol.gen';

export class LocksTree implements vscode.TreeDataProvider<Lock>, vscode.Disposable {
  private locks: Lock[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Lock>;
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly agent: Agent) {
    this.view = vscode.window.createTreeView('agentLs.locks', { treeDataProvider: this });
    agent.link.on('agent/lock/changed', ({ locks }) => this.show(locks));
    this.subscriptions = [
      this.view,
      this.view.onDidChangeVisibility(({ visible }) => visible && void this.load()),
      // A daemon that does not tell of locks by itself is asked when something has happened.
      agent.follow.onNews((news) => news.kind === 'events' && this.view.visible && void this.load()),
      agent.summaries.onChange(() => this.view.visible && void this.load()),
      vscode.commands.registerCommand('agentLs.locks.show', () => vscode.commands.executeCommand('agentLs.locks.focus')),
      vscode.commands.registerCommand('agentLs.locks.takeOver', (lock?: Lock) => this.takeOver(lock)),
    ];
  }

  getChildren(node?: Lock): Lock[] {
    return node === undefined ? this.locks : [];
  }

  getTreeItem(lock: Lock): vscode.TreeItem {
    const asked = this.agent.summaries.titleOf(lock.conversationId) || 'another conversation';
    const waits = lock.waiting === 0 ? '' : ` · ${lock.waiting} waiting`;
    const item = new vscode.TreeItem(vscode.Uri.parse(lock.key));
    item.id = lock.key;
    item.label = fileName(lock.key) || lock.key;
    item.description = `${asked}${waits}`;
    item.tooltip = `${lock.key}\nheld by “${asked}” since ${lock.since}${waits}`;
    item.iconPath = new vscode.ThemeIcon('lock');
    item.contextValue = 'lock';
    item.accessibilityInformation = { label: `${fileName(lock.key)}, held by ${asked}${waits}`, role: 'treeitem' };
    return item;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  private async load(): Promise<void> {
    const answer = await this.agent.link.request('agent/lock/list', {});
    if (answer.ok) {
      this.show(answer.value.locks);
    }
  }

  private show(locks: Lock[]): void {
    this.locks = locks;
    this.changed.fire();
  }

  private async takeOver(given?: Lock): Promise<void> {
    const offers = this.locks.map((lock) => ({ label: unadorned(fileName(lock.key)), description: unadorned(lock.key), lock }));
    const lock = given ?? (await vscode.window.showQuickPick(offers, { title: 'Take over which lock?' }))?.lock;
    if (lock !== undefined) {
      await this.agent.voice.told(this.agent.link.command('agent/lock/release', { key: lock.key }));
    }
    await this.load();
  }
}
