// Answers of the person on their way to the daemon.
//
// Owns that an answer goes to what was on the screen, that one given in the first moment after a card came is not taken,
// and that the person learns who was first. Does not own which answers count (the daemon).

import * as vscode from 'vscode';

import type { Agent } from '../context';
import { guard, isPrefix, scopeOf, settled, type Difference, type Held } from '../core/requests';
import { requestTitle } from '../core/labels';
import type { Option, Request, Respond } from '../protocol.gen';

export type Scope = 'once' | 'conversation' | 'workspace';
export type Said = Omit<Respond, 'commandId' | 'requestId' | 'digest'>;

export interface Shown {
  /** The digest of what the person saw. */
  readonly digest: string;
  /** Whether the card stood on the screen when they answered. */
  readonly shown: boolean;
}

export class Answers {
  private readonly mine = new Set<string>();

  constructor(private readonly agent: Pick<Agent, 'book' | 'link' | 'voice'>) {}

  allow(held: Held, scope: Scope, shown: Shown): Promise<boolean> {
    const option = held.request.options.find((one) => one.decision === 'allow' && (one.scope ?? 'once') === scope && !isPrefix(one));
    if (option === undefined) {
      this.agent.voice.say(`#${held.request.number} cannot be allowed for good; it is asked each time.`);
      return Promise.resolve(false);
    }
    return this.choose(held, option, shown);
  }

  choose(held: Held, option: Option, shown: Shown): Promise<boolean> {
    return this.give(held, { decision: option.decision, optionId: option.id, ...scopeOf(option) }, shown);
  }

  deny(held: Held, reason: string, shown: Shown): Promise<boolean> {
    const words = reason.trim();
    return this.give(held, { decision: 'deny', ...(words === '' ? {} : { reason: words }) }, shown);
  }

  /** Whether the answer was taken. */
  async give(held: Held, said: Said, shown: Shown): Promise<boolean> {
    const { number, id } = held.request;
    const guarded = guard(this.agent.book.get(id), { ...shown, now: performance.now() });
    if (!guarded.ok) {
      this.agent.voice.say(
        {
          unread: `#${number} has only just come up; look at it, then answer again.`,
          unseen: `#${number} had not been on the screen; look at it, then answer again.`,
          gone: `#${number} no longer waits.`,
        }[guarded.why],
      );
      if (guarded.why === 'unseen') {
        await vscode.commands.executeCommand('agentLs.approvals.details', id);
      }
      return false;
    }
    this.mine.add(id);
    const answer = await this.agent.link.command('agent/request/respond', { requestId: id, digest: shown.digest, ...said });
    if (!answer.ok) {
      this.mine.delete(id);
      this.agent.voice.trouble(answer.trouble);
    }
    return answer.ok;
  }

  /** Cards that are gone: answered elsewhere, or given up. */
  async retracted({ gone }: Difference): Promise<void> {
    for (const { request } of gone) {
      if (this.mine.delete(request.id)) {
        continue;
      }
      const answer = await this.agent.link.request('agent/request/list', { number: request.number });
      const now = answer.ok ? answer.value.requests.find((other) => other.id === request.id) : undefined;
      if (now !== undefined && now.status !== 'pending') {
        this.agent.voice.say(`#${request.number} ${settled(now)}`);
      }
    }
  }
}

export function label(request: Request): string {
  return `#${request.number} ${requestTitle(request)}`;
}
