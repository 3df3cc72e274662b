// The conversation that this window follows: attached, kept whole, and passed on to whoever shows it.
//
// Owns that it is attached again after each new link and after each gap, and that it is found again after a reload. Does
// not own how it is folded (core/conversation.ts) nor shown (chat.ts).

import * as vscode from 'vscode';

import type { Answer, Link } from '../client';
import { Drafts } from './drafts';
import { merged } from './merge';
import { Conversation } from '../core/conversation';
import type { Memory } from '../memory';
import type { Attached, Event, ItemPage, Presence, StreamPart } from '../protocol.gen';

const FIRST_PAGE = 200;
const PAGE = 400;
const FLUSH_MS = 50;

export type News =
  | { readonly kind: 'attached'; readonly conversation: Conversation | undefined }
  | { readonly kind: 'older'; readonly page: ItemPage }
  | { readonly kind: 'windows'; readonly windows: readonly Presence[] }
  | { readonly kind: 'draft'; readonly text: string }
  | { readonly kind: 'events'; readonly events: readonly Event[] }
  | { readonly kind: 'streams'; readonly parts: readonly StreamPart[] };

export class Follow implements vscode.Disposable {
  current: Conversation | undefined;
  private wanted: string | undefined;
  private attached = false;
  private parts: StreamPart[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly news = new vscode.EventEmitter<News>();
  readonly onNews = this.news.event;
  readonly drafts: Drafts;

  constructor(
    private readonly link: Link,
    private readonly memory: Memory,
  ) {
    this.wanted = memory.conversation;
    this.drafts = new Drafts(
      link,
      memory,
      () => !vscode.window.state.focused,
      (id) => id === this.id && this.news.fire({ kind: 'draft', text: memory.draft(id) }),
    );
    link.on('agent/event', ({ conversationId, events }) => this.happened(conversationId, events));
    link.on('agent/stream', (part) => this.streamed(part));
    link.on('agent/conversation/windows', ({ conversationId, windows }) => conversationId === this.current?.id && this.seen(windows));
    link.on('agent/resync', ({ conversationId }) => this.again(conversationId));
    link.onState((state) => {
      this.attached &&= state === 'ready';
    });
  }

  get id(): string | undefined {
    return this.current?.id ?? this.wanted;
  }

  /** After each greeting: nobody follows anything on a new link. */
  async resume(newest: string | undefined): Promise<void> {
    const id = this.id ?? (this.memory.beginning ? undefined : newest);
    if (id !== undefined) {
      const answer = await this.attach(id);
      if (!answer.ok && answer.trouble.code === 'not_found' && newest !== undefined && newest !== id) {
        await this.attach(newest);
      } else if (!answer.ok && answer.trouble.code === 'not_found') {
        this.leave();
      }
    }
  }

  async attach(id: string): Promise<Answer<Attached>> {
    const known = this.current?.id === id ? this.current : undefined;
    if (known === undefined && this.current !== undefined && this.link.state === 'ready') {
      void this.link.request('agent/conversation/detach', { conversationId: this.current.id });
    }
    this.attached = false;
    this.wanted = id;
    const after = known === undefined ? {} : { after: known.seq };
    const answer = await this.link.request('agent/conversation/attach', { conversationId: id, backfill: { items: FIRST_PAGE }, ...after });
    if (answer.ok && this.wanted === id) {
      this.take(known, answer.value);
    }
    return answer;
  }

  /** Follows nothing: the next message begins a new conversation. */
  leave(): void {
    if (this.current !== undefined && this.link.state === 'ready') {
      void this.link.request('agent/conversation/detach', { conversationId: this.current.id });
    }
    this.current = undefined;
    this.wanted = undefined;
    this.attached = false;
    this.memory.conversation = undefined;
    this.news.fire({ kind: 'attached', conversation: undefined });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.news.dispose();
  }

  private take(known: Conversation | undefined, answer: Attached): void {
    if (known === undefined) {
      this.current = new Conversation(answer);
    } else {
      known.attached(answer);
    }
    this.attached = true;
    this.parts = [];
    this.memory.conversation = answer.conversation.id;
    this.drafts.take(answer.conversation.id, answer.draft ?? '');
    this.news.fire({ kind: 'attached', conversation: this.current });
    this.seen(answer.windows);
    if (answer.snapshot) {
      void this.page();
    }
  }

  /** The other windows that show it; a daemon that is older tells of none. */
  private seen(windows: readonly Presence[] | undefined): void {
    this.news.fire({ kind: 'windows', windows: (windows ?? []).filter(({ windowId }) => windowId !== this.link.windowId) });
  }

  /** What came before the first page, page by page behind the person's back. */
  private async page(): Promise<void> {
    const conversation = this.current;
    while (conversation?.olderCursor !== undefined && this.current === conversation) {
      const cursor = conversation.olderCursor;
      const answer = await this.link.request('agent/conversation/items', { conversationId: conversation.id, cursor, limit: PAGE });
      if (!answer.ok || this.current !== conversation || conversation.olderCursor !== cursor) {
        return;
      }
      conversation.older(answer.value);
      this.news.fire({ kind: 'older', page: answer.value });
    }
  }

  private happened(id: string, events: readonly Event[]): void {
    if (id !== this.current?.id || !this.attached) {
      return;
    }
    this.flush();
    if (this.current.events(events) === 'gap') {
      this.again(id);
    } else {
      this.news.fire({ kind: 'events', events });
    }
  }

  private streamed(part: StreamPart): void {
    if (part.conversationId === this.current?.id && this.attached && this.current.stream(part)) {
      this.parts.push(part);
      this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
    }
  }

  /** What came within a moment goes on as one: a page draws no faster, and each message costs. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.parts.length > 0) {
      const parts = merged(this.parts);
      this.parts = [];
      this.news.fire({ kind: 'streams', parts });
    }
  }

  private again(id: string): void {
    if (id === this.id && this.link.state === 'ready') {
      void this.attach(id);
    }
  }
}
