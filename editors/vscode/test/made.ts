// Things of the protocol, made for tests: whole, with what matters given.

import type { Snapshot } from '../src/core/conversation';
import type { Call, ConversationView, Event, Item, Request, Run } from '../src/protocol.gen';

export const ABOUT: ConversationView = {
  id: 'c1', workspace: 'file:///home/me/project', title: 'Fix it', provider: 'scripted', model: 'scripted-1', mode: 'ask',
  createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', status: 'idle',
};

export function attached(more: Partial<Snapshot> = {}): Snapshot {
  return { conversation: ABOUT, items: [], requests: [], queue: [], shells: [], streams: [], seq: 0, snapshot: true, ...more };
}

export function item(ord: number, more: Partial<Item> = {}): Item {
  return {
    id: `i${ord}`, conversationId: 'c1', runId: 'r1', ord, kind: 'assistant_message', status: 'completed',
    payload: { text: `said ${ord}` }, createdAt: '2026-01-01T00:00:00Z', ...more,
  };
}

export function call(more: Partial<Call> = {}): Call {
  return { callId: 'k1', tool: 'shell', input: {}, ...more };
}

export function run(ordinal: number, more: Partial<Run> = {}): Run {
  return { id: `r${ordinal}`, conversationId: 'c1', ordinal, status: 'running', createdAt: '2026-01-01T00:00:00Z', ...more };
}

export function request(number: number, more: Partial<Request> = {}): Request {
  return {
    id: `q${number}`, number, conversationId: 'c1', runId: 'r1', itemId: 'i1', kind: 'approval', title: 'Edit hello.py',
    options: [{ id: 'allow_once', label: 'Allow once', decision: 'allow', scope: 'once' }, { id: 'deny', label: 'Deny', decision: 'deny' }],
    digest: `d${number}`, status: 'pending', createdAt: '2026-01-01T00:00:00Z', ...more,
  };
}

let seq = 0;

/** The next event; `seq` begins anew where it is given. */
export function event(entity: Event['entity'], kind: Event['kind'], at?: number): Event {
  seq = at ?? seq + 1;
  return { seq, at: '2026-01-01T00:00:00Z', kind, fact: 'changed', entity };
}
