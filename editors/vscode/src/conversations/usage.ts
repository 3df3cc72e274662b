// What the conversation in the chat has used: asked for after each step, told to the page.

import * as vscode from 'vscode';

import type { Chat } from './chat';
import type { Agent } from '../context';

const QUIET_MS = 300;

export function followUsage(agent: Agent, chat: Chat): vscode.Disposable[] {
  let timer: NodeJS.Timeout | undefined;
  const ask = async (): Promise<void> => {
    const id = agent.follow.current?.id;
    if (id !== undefined) {
      const answer = await agent.link.request('agent/context/status', { conversationId: id });
      chat.post({ type: 'usage', use: answer.ok && id === agent.follow.current?.id ? answer.value : undefined });
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
