// The status bar: how the agent stands, and whether something waits for the person.

import * as vscode from 'vscode';

import { settings } from './config';
import type { Agent } from './context';
import { STATUS_WORDS } from './core/labels';

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('agentLs.status', vscode.StatusBarAlignment.Left, 0);
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly agent: Agent) {
    this.item.name = 'Agent';
    this.subscriptions = [
      this.item,
      agent.link.onState(() => this.draw()),
      agent.onRequests(() => this.draw()),
      agent.follow.onNews((news) => (news.kind === 'attached' || news.kind === 'events') && this.draw()),
      agent.summaries.onChange(() => this.draw()),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('agentLs.statusBar') && this.draw()),
    ];
    this.draw();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private draw(): void {
    const { text, spoken, command, waits } = this.words();
    this.item.text = text;
    this.item.tooltip = spoken;
    this.item.command = `agentLs.${command}`;
    this.item.accessibilityInformation = { label: spoken };
    this.item.backgroundColor = waits ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    if (settings().statusBar) {
      this.item.show();
    } else {
      this.item.hide();
    }
    this.tellClauses();
  }

  private words(): { text: string; spoken: string; command: string; waits?: boolean } {
    const { state, sentence } = this.agent.link;
    const waiting = this.agent.book.all().length;
    switch (state) {
      case 'missing':
        return { text: '$(warning) agent: not installed', spoken: sentence ?? 'No agent-ls was found.', command: 'install' };
      case 'down':
        return { text: '$(warning) agent: down', spoken: sentence ?? 'There is no daemon.', command: 'daemon.restart' };
      case 'starting':
        return { text: '$(loading~spin) agent: starting', spoken: 'Connecting to the daemon.', command: 'focusChat' };
      case 'ready': {
        if (waiting > 0) {
          return { text: `$(bell-dot) agent: ${waiting} waiting`, spoken: `${waiting} ${waiting === 1 ? 'approval waits' : 'approvals wait'} for you. Go to the next one.`, command: 'approvals.next', waits: true };
        }
        const running = this.running();
        return running > 0
          ? { text: `$(loading~spin) agent: ${running === 1 ? 'running' : `${running} running`}`, spoken: 'The agent is at work. Show the chat.', command: 'focusChat' }
          : { text: '$(comment-discussion) agent', spoken: `The agent is ${STATUS_WORDS.idle}. Show the chat.`, command: 'focusChat' };
      }
    }
  }

  private running(): number {
    const others = this.agent.summaries.all().filter(({ id, status }) => id !== this.agent.follow.current?.id && status === 'running');
    return others.length + (this.agent.follow.current?.run === undefined ? 0 : 1);
  }

  /** For `when` clauses of menus and keys. */
  private tellClauses(): void {
    const set = (name: string, value: unknown): void => void vscode.commands.executeCommand('setContext', `agentLs.${name}`, value);
    set('ready', this.agent.link.state === 'ready');
    set('missing', this.agent.link.state === 'missing');
    set('running', this.agent.follow.current?.run !== undefined);
    set('pending', this.agent.book.all().length);
  }
}
