// The status bar: how the agent stands, and whether something waits for the person.

import * as vscode from 'vscode';

import { settings } from './config';
import type { Agent } from './context';
import { STATUS_WORDS } from './core/labels';

interface Words {
  readonly text: string;
  readonly spoken: string;
  readonly command: string;
  readonly waits?: boolean;
}

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

  private words(): Words {
    const { state, sentence } = this.agent.link;
    const waiting = this.agent.book.all().length;
    switch (state) {
      case 'missing':
        return { text: '$(warning) agent: not installed', spoken: sentence ?? 'No agent-ls was found.', command: 'focusChat' };
      case 'down':
        return { text: '$(warning) agent: down', spoken: sentence ?? 'There is no daemon.', command: 'daemon.restart' };
      case 'starting':
        return { text: '$(loading~spin) agent: starting', spoken: 'Connecting to the daemon.', command: 'focusChat' };
      case 'ready':
        return waiting > 0 ? this.waits(waiting) : this.works();
    }
  }

  private waits(waiting: number): Words {
    const { text, spoken } = this.elsewhere();
    const said = `${waiting} ${waiting === 1 ? 'approval waits' : 'approvals wait'} for you. Go to the next one.`;
    return { text: `$(bell-dot) agent: ${waiting} waiting${text}`, spoken: said + spoken, command: 'approvals.next', waits: true };
  }

  private works(): Words {
    const { text, spoken } = this.elsewhere();
    const running = this.running();
    return running > 0
      ? { text: `$(loading~spin) agent: ${running === 1 ? 'running' : `${running} running`}${text}`, spoken: `The agent is at work. Show the chat.${spoken}`, command: 'focusChat' }
      : { text: `$(comment-discussion) agent${text}`, spoken: `The agent is ${STATUS_WORDS.idle}. Show the chat.${spoken}`, command: 'focusChat' };
  }

  /** What waits and is shown in another window, or belongs to another folder. */
  private elsewhere(): { text: string; spoken: string } {
    const count = this.agent.book.elsewhere;
    return count === 0 ? { text: '', spoken: '' } : { text: ` · ${count} elsewhere`, spoken: ` ${count === 1 ? 'One more waits' : `${count} more wait`} in other windows.` };
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
