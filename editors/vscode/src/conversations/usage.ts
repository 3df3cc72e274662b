// What the conversation in the chat has used, and which servers of tools it has: asked for after each step, told to the page.

import * as vscode from 'vscode';

import type { Chat } from './chat';
import type { Tool } from './messages';
import type { Agent } from '../context';
import { word } from '../core/display';
import type { DaemonStatus } from '../protocol.gen';

const QUIET_MS = 300;

export function followUsage(agent: Agent, chat: Chat): vscode.Disposable[] {
  let timer: NodeJS.Timeout | undefined;
  const ask = async (): Promise<void> => {
    const about = agent.follow.current?.about;
    if (about === undefined) {
      return;
    }
    const [used, status] = await Promise.all([
      agent.link.request('agent/context/status', { conversationId: about.id }),
      agent.link.request('agent/status', {}),
    ]);
    if (about.id === agent.follow.current?.id) {
      chat.post({ type: 'usage', use: used.ok ? used.value : undefined });
      chat.post({ type: 'servers', servers: status.ok ? serversOf(status.value, about.workspace) : [] });
    }
  };
  return [
    agent.follow.onNews((news) => {
      if (news.kind === 'attached' || (news.kind === 'events' && news.events.some(({ kind }) => kind === 'attempt' || kind === 'run'))) {
        clearTimeout(timer);
        timer = setTimeout(() => void ask(), QUIET_MS);
      }
    }),
    new vscode.Disposable(() => clearTimeout(timer)),
  ];
}

/** An older daemon tells of none. */
function serversOf(status: Partial<DaemonStatus>, workspace: string): Tool[] {
  const root = vscode.Uri.parse(workspace).fsPath;
  return (status.mcp ?? [])
    .filter((server) => server['workspace'] === root)
    .map((server) => ({ name: word(server['name']), state: word(server['state']), tools: Number(server['tools'] ?? 0) }));
}
