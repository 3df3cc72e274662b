// A conversation as a window knows it: folded from the answer of an attach and from what came after.
//
// Owns order and completeness: each event once, `gap` where something was missed. Used by the extension and by its page
// alike, so that both say the same. Does not own how it looks. Pure.

import type { Attached, ConversationStatus, ConversationView, Event, Item, ItemPage, Request, Run, ShellView, StreamPart, StreamView } from '../protocol.gen';

export type Phase = NonNullable<StreamPart['phase']>;

/** Text in flight of an item that is not committed yet, or the output so far of a command that runs. */
export interface Flight {
  readonly itemId: string;
  text: string;
  output: string;
  phase: Phase;
}

/** What of an attach's answer is kept; the page is told the same. */
export type Snapshot = Pick<Attached, 'conversation' | 'items' | 'requests' | 'run' | 'queue' | 'shells' | 'streams' | 'seq' | 'snapshot' | 'olderCursor'>;

const OPEN = new Set(['starting', 'running', 'finalizing']);
/** Why there was none, unless something was said after it. */
const NO_ANSWER = new Set(['error', 'interrupt']);
const SAID = new Set(['user_message', 'assistant_message']);
const LONGEST_OUTPUT = 64 * 1024;

export class Conversation {
  about: ConversationView;
  seq = 0;
  run: Run | undefined;
  queue: Run[] = [];
  shells: ShellView[] = [];
  olderCursor: string | undefined;
  /** In the order of the transcript. */
  readonly items: Item[] = [];
  readonly requests = new Map<string, Request>();
  readonly flights = new Map<string, Flight>();
  private readonly known = new Map<string, Item>();

  constructor(answer: Snapshot) {
    this.about = answer.conversation;
    this.attached(answer);
  }

  get id(): string {
    return this.about.id;
  }

  /** The answer of an attach, the first one or a later one. */
  attached(answer: Snapshot): void {
    this.about = answer.conversation;
    this.seq = answer.seq;
    this.queue = [...answer.queue];
    this.run = answer.run;
    this.shells = answer.shells;
    this.flights.clear();
    if (answer.snapshot) {
      this.items.length = 0;
      this.known.clear();
      this.requests.clear();
      this.olderCursor = answer.olderCursor;
    }
    answer.items.forEach((item) => this.put(item));
    answer.requests.forEach((request) => this.requests.set(request.id, request));
    answer.streams.forEach((stream) => this.stream(stream));
  }

  /** All that is known of it, as an attach would answer; with the newest items only where `items` says how many. */
  snapshot(items = Infinity): Snapshot {
    const streams = [...this.flights.values()].map(({ itemId, text, output, phase }) => ({
      itemId, cursor: 0, text, phase, ...(output === '' ? {} : { output }),
    }));
    return {
      conversation: this.about,
      items: this.items.slice(-items),
      requests: [...this.requests.values()],
      ...(this.run === undefined ? {} : { run: this.run }),
      queue: this.queue,
      shells: this.shells,
      streams,
      seq: this.seq,
      snapshot: true,
    };
  }

  /** What came before the first page. */
  older(page: ItemPage): void {
    page.items.filter((item) => !this.known.has(item.id)).forEach((item) => this.put(item));
    this.olderCursor = page.olderCursor;
  }

  /** `gap`: something is missing, attach again. */
  events(events: readonly Event[]): 'whole' | 'gap' {
    for (const event of events) {
      if (event.seq > this.seq + 1) {
        return 'gap';
      }
      if (event.seq === this.seq + 1) {
        this.seq = event.seq;
        this.event(event);
      }
    }
    return 'whole';
  }

  /** A part of what is in flight; false where a committed item has superseded it. */
  stream(part: StreamPart | StreamView): boolean {
    const settled = this.known.get(part.itemId);
    if (settled !== undefined && settled.status !== 'running' && settled.status !== 'pending') {
      return false;
    }
    const flight = this.flights.get(part.itemId) ?? { itemId: part.itemId, text: '', output: '', phase: 'answering' };
    this.flights.set(part.itemId, flight);
    flight.phase = part.phase ?? flight.phase;
    if (part.text !== undefined) {
      flight.text = part.text;
    }
    if ('delta' in part && part.delta !== undefined) {
      flight.text += part.delta;
    }
    if (part.output !== undefined) {
      flight.output = (flight.output + part.output).slice(-LONGEST_OUTPUT);
    }
    return true;
  }

  item(id: string): Item | undefined {
    return this.known.get(id);
  }

  /** As the daemon derives it. */
  get status(): ConversationStatus {
    if (this.run !== undefined) {
      return this.run.interrupt !== undefined ? 'stopping' : this.pending.length > 0 ? 'waiting' : 'running';
    }
    if (this.about.compacting !== undefined) {
      return 'running';
    }
    return this.queue.length > 0 ? 'queued' : 'idle';
  }

  /** The item that says why the last run came to nothing: that run can be asked again. */
  get failure(): Item | undefined {
    const last = this.run === undefined ? this.items.findLast(({ kind, status }) => NO_ANSWER.has(kind) || (SAID.has(kind) && status === 'completed')) : undefined;
    return last !== undefined && NO_ANSWER.has(last.kind) ? last : undefined;
  }

  get pending(): Request[] {
    return [...this.requests.values()].filter((request) => request.status === 'pending');
  }

  /** What a stop is for: the run that goes on, or the newest one, under which a compaction is shown. */
  get stoppable(): string | undefined {
    return this.run?.id ?? (this.about.compacting === undefined ? undefined : this.items[this.items.length - 1]?.runId);
  }

  private event(event: Event): void {
    switch (event.kind) {
      case 'item':
        return this.settle(event.entity as Item);
      case 'request': {
        const request = event.entity as Request;
        this.requests.set(request.id, request);
        return;
      }
      case 'run':
        return this.ran(event.entity as Run);
      case 'attempt':
        return this.landed();
      case 'conversation':
        return this.changed(event.entity as ConversationView);
    }
  }

  private changed(about: ConversationView): void {
    const { compacting, ...rest } = this.about;
    this.about = { ...rest, ...about };
    if (compacting !== undefined && about.compacting === undefined) {
      this.landed();
    }
  }

  private settle(item: Item): void {
    this.put(item);
    if (item.status !== 'running' && item.status !== 'pending') {
      this.flights.delete(item.id);
    }
  }

  private ran(run: Run): void {
    this.queue = this.queue.filter((other) => other.id !== run.id);
    if (run.status === 'queued') {
      this.queue.push(run);
      this.queue.sort((one, other) => (one.position ?? one.ordinal) - (other.position ?? other.ordinal));
    }
    if (OPEN.has(run.status)) {
      this.run = run;
    } else if (this.run?.id === run.id) {
      this.run = undefined;
      this.landed();
    }
  }

  /** A step was committed or given up: text in flight that is no item by now is void. */
  private landed(): void {
    for (const id of this.flights.keys()) {
      if (!this.known.has(id)) {
        this.flights.delete(id);
      }
    }
  }

  private put(item: Item): void {
    const old = this.known.get(item.id);
    this.known.set(item.id, item);
    const at = place(this.items, item.ord);
    if (old !== undefined && this.items[at]?.id === item.id) {
      this.items[at] = item;
    } else {
      this.items.splice(at, 0, item);
    }
  }
}

/** Where an item of this place stands, or belongs: nearly always at the end. */
function place(items: readonly Item[], ord: number): number {
  let low = 0;
  let high = items.length;
  if (high > 0 && (items[high - 1]?.ord ?? 0) < ord) {
    return high;
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.ord ?? 0) < ord) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
