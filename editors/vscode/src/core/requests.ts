// What waits for the person in this window: cards, since when they are there, and whether an answer may count yet.
//
// Owns the moment in which a card cannot have been read, and which card is meant by a key. Does not own which answers
// count (the daemon), nor where a card is drawn (approvals/). Pure: time comes in as a value.

import type { Option, Request, RequestsChanged } from '../protocol.gen';

/** A card that is younger than this cannot have been read: an answer is a key that was meant for something else. */
export const UNREAD_MS = 400;

export interface Held {
  readonly request: Request;
  /** Since when it is here as it is now, in milliseconds of a clock that only goes on. */
  readonly since: number;
}

export interface Difference {
  readonly came: Held[];
  readonly changed: Held[];
  readonly gone: Held[];
}

export class RequestBook {
  /** How many wait that this window does not show: another one does, or they belong to other folders. */
  elsewhere = 0;
  private held = new Map<string, Held>();

  /** All that this window should show from now on. */
  update(params: RequestsChanged, now: number): Difference {
    this.elsewhere = Math.max(0, params.pending - params.requests.length);
    const before = this.held;
    this.held = new Map();
    const came: Held[] = [];
    const changed: Held[] = [];
    for (const request of params.requests) {
      const old = before.get(request.id);
      const same = old !== undefined && old.request.digest === request.digest;
      const held = same ? Object.assign(old, { request }) : { request, since: now };
      this.held.set(request.id, held);
      if (old === undefined) {
        came.push(held);
      } else if (!same) {
        changed.push(held);
      }
    }
    const gone = [...before.values()].filter((old) => !this.held.has(old.request.id));
    return { came, changed, gone };
  }

  /** Oldest first. */
  all(): Held[] {
    return [...this.held.values()].sort((one, other) => one.request.number - other.request.number);
  }

  get(id: string): Held | undefined {
    return this.held.get(id);
  }

  /** The one after (or before) that number, round the corner. */
  beside(number: number | undefined, step: 1 | -1): Held | undefined {
    const all = this.all();
    if (number === undefined) {
      return step === 1 ? all[0] : all.at(-1);
    }
    const found =
      step === 1
        ? all.find((held) => held.request.number > number)
        : all.filter((held) => held.request.number < number).at(-1);
    return found ?? (step === 1 ? all[0] : all.at(-1));
  }
}

export type Guarded = { readonly ok: true } | { readonly ok: false; readonly why: 'unread' | 'gone' | 'unseen' };

/** Whether an answer to what was shown under this digest may be sent; `shown`: the card stands on the screen. */
export function guard(held: Held | undefined, given: { digest: string; now: number; shown: boolean }): Guarded {
  if (held === undefined || held.request.status !== 'pending') {
    return { ok: false, why: 'gone' };
  }
  if (held.request.digest !== given.digest || given.now - held.since < UNREAD_MS) {
    return { ok: false, why: 'unread' };
  }
  return given.shown ? { ok: true } : { ok: false, why: 'unseen' };
}

/** How an answer says for how long it holds. */
export function scopeOf({ scope }: Option): { scope?: 'once' | 'conversation' | 'workspace' } {
  return scope === 'once' || scope === 'conversation' || scope === 'workspace' ? { scope } : {};
}

/** The wider rule of a conversation: whatever begins like this command. */
export function isPrefix({ id }: Option): boolean {
  return id.endsWith('_prefix');
}

/** `allowed by ada in neovim`. */
export function settled(request: Request): string {
  const verbs: Record<string, string> = { allow: 'allowed', deny: 'denied', answer: 'answered', cancel: 'cancelled' };
  const verb = request.decision === undefined ? (request.status === 'expired' ? 'expired' : 'cancelled') : verbs[request.decision];
  const by = request.decidedBy === undefined ? '' : ` by ${request.decidedBy}`;
  const from = request.decidedFrom === undefined ? '' : ` in ${request.decidedFrom}`;
  return `${verb ?? 'settled'}${by}${from}`;
}
