// Rules that decide what runs without asking: shown, and revoked.

import * as vscode from 'vscode';

import type { Agent } from './context';
import { workspaces } from './conversations/summaries';
import { oneLine, unadorned } from './core/display';
import type { Rule } from './protocol.gen';

export function registerRules(agent: Agent): vscode.Disposable[] {
  return [
    vscode.commands.registerCommand('agentLs.rules.show', () => show(agent)),
    vscode.commands.registerCommand('agentLs.rules.revoke', () => revoke(agent)),
  ];
}

async function rules(agent: Agent): Promise<Rule[] | undefined> {
  const workspace = workspaces()[0];
  const id = agent.follow.current?.id;
  const seenFrom = { ...(workspace && { workspace }), ...(id && { conversationId: id }) };
  return (await agent.voice.told(agent.link.request('agent/permission/list', seenFrom)))?.rules;
}

async function show(agent: Agent): Promise<void> {
  const held = await rules(agent);
  const lines = held?.map(({ effect, rule, scope, origin }) => `${effect.padEnd(6)} ${oneLine(rule, 200)}    # ${scope}, ${oneLine(origin, 200)}`);
  if (lines !== undefined) {
    await agent.papers.show('rules', lines.length === 0 ? 'There is no rule.\n' : `${lines.join('\n')}\n`);
  }
}

async function revoke(agent: Agent): Promise<void> {
  const held = (await rules(agent))?.filter((rule) => rule.id !== undefined);
  if (held === undefined) {
    return;
  }
  const offers = held.map((rule) => ({ label: unadorned(`${rule.effect} ${oneLine(rule.rule)}`), description: unadorned(`${rule.scope}, ${oneLine(rule.origin)}`), rule }));
  const chosen = await vscode.window.showQuickPick(offers, { title: 'Revoke which rule?', placeHolder: offers.length === 0 ? 'No rule here can be revoked' : '' });
  if (chosen?.rule.id !== undefined) {
    const answer = await agent.link.command('agent/permission/remove', { ruleId: chosen.rule.id });
    if (answer.ok) {
      agent.voice.say(`“${oneLine(chosen.rule.rule, 100)}” is no rule any more.`);
    } else {
      agent.voice.trouble(answer.trouble);
    }
  }
}
