// Commands about the daemon itself.

import * as vscode from 'vscode';

import type { Agent } from './context';
import { install, run } from './daemon';

export function registerCommands(agent: Agent): vscode.Disposable[] {
  const on = (name: string, work: () => unknown): vscode.Disposable => vscode.commands.registerCommand(`agentLs.${name}`, work);
  return [
    on('daemon.status', () => status(agent)),
    on('daemon.log', () => log(agent)),
    on('daemon.restart', () => restart(agent)),
    on('install', () => begin(agent)),
    on('settings', () => vscode.commands.executeCommand('workbench.action.openSettings', '@ext:agent-ls.agent-ls')),
    on('walkthrough', () => vscode.commands.executeCommand('workbench.action.openWalkthrough', `${agent.context.extension.id}#start`, false)),
  ];
}

async function status(agent: Agent): Promise<void> {
  const now = await agent.voice.told(agent.link.request('agent/status', {}));
  if (now !== undefined) {
    await agent.papers.show('status.json', `${JSON.stringify(now, undefined, 2)}\n`, 'json');
  }
}

async function log(agent: Agent): Promise<void> {
  const { program } = agent.link;
  if (program === undefined) {
    agent.log.show(true);
    return;
  }
  const { said } = await run(program, ['log']);
  await agent.papers.show('daemon.log', said || 'The log is empty.\n', 'log');
}

async function restart(agent: Agent): Promise<void> {
  const { program } = agent.link;
  if (program !== undefined) {
    const { ok, said } = await run(program, ['restart']);
    if (!ok) {
      agent.voice.trouble({ code: 'down', sentence: said.trim() || 'The daemon could not be restarted; `agent-ls doctor` in a terminal shows why.' });
    }
  }
  if (agent.link.state !== 'ready') {
    await agent.link.restart();
  }
}

/** What is there already is used; only then something is installed. */
async function begin(agent: Agent): Promise<void> {
  if (agent.link.state === 'missing' || agent.link.state === 'down') {
    await agent.link.restart();
  }
  if (agent.link.state === 'missing') {
    install();
    agent.link.lookFor();
    agent.voice.say('The terminal installs it; it is used as soon as it is there.');
  } else {
    agent.voice.say(agent.link.sentence ?? 'agent-ls is there.');
  }
}
