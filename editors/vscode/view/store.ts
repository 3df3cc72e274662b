// What the page knows: folded from the messages of the extension, told to whoever draws.
//
// Owns that many messages are drawn once. Does not own how a conversation is folded (core/conversation.ts).

import { Conversation } from '../src/core/conversation';
import type { Chip, Entry, LinkState, Tool, ToPage } from '../src/conversations/messages';
import type { ContextUse, ConversationSummary, Presence } from '../src/protocol.gen';

const SAID_MS = 8000;

export class Store {
  link: { state: LinkState; trusted: boolean; folder: boolean; whileRunning: 'queue' | 'steer'; sentence?: string } = { state: 'starting', trusted: true, folder: true, whileRunning: 'queue' };
  conversation: Conversation | undefined;
  summaries: readonly ConversationSummary[] = [];
  usage: ContextUse | undefined;
  servers: readonly Tool[] = [];
  /** Other windows on this conversation. */
  windows: readonly Presence[] = [];
  chips: readonly Chip[] = [];
  completions: { token: number; entries: readonly Entry[] } = { token: 0, entries: [] };
  said = '';
  /** Read aloud by screen readers. */
  spoken = '';
  /** Counts what came from what is remembered. */
  draft = { count: 0, text: '' };
  /** Counts what was asked of the input from outside. */
  composed: { count: number; text?: string; focus: boolean } = { count: 0, focus: false };
  sent: { token: number; ok: boolean } = { token: 0, ok: true };
  private drawing = false;
  private forgetting: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly draw: () => void) {}

  hear(message: ToPage): void {
    this.take(message);
    if (!this.drawing) {
      this.drawing = true;
      requestAnimationFrame(() => {
        this.drawing = false;
        this.draw();
      });
    }
  }

  private take(message: ToPage): void {
    switch (message.type) {
      case 'link':
        this.link = message;
        return;
      case 'attached':
        return this.attached(message);
      case 'none':
        this.conversation = undefined;
        this.usage = undefined;
        return;
      case 'older':
        return this.conversation?.older(message.page);
      case 'events':
        return this.happened(message);
      case 'streams':
        if (message.conversationId === this.conversation?.id) {
          message.parts.forEach((part) => this.conversation?.stream(part));
        }
        return;
      default:
        return this.more(message);
    }
  }

  private more(message: ToPage): void {
    switch (message.type) {
      case 'usage':
        this.usage = message.use;
        return;
      case 'windows':
        this.windows = message.windows;
        return;
      case 'servers':
        this.servers = message.servers;
        return;
      case 'summaries':
        this.summaries = message.summaries;
        return;
      case 'chips':
        this.chips = message.chips;
        return;
      case 'completions':
        this.completions = message;
        return;
      case 'compose':
        this.composed = { ...message, count: this.composed.count + 1 };
        return;
      case 'sent':
        this.sent = message;
        return;
      case 'draft':
        this.draft = { count: this.draft.count + 1, text: message.text };
        return;
      case 'say':
        return this.say(message.sentence);
    }
  }

  private attached({ answer }: ToPage & { type: 'attached' }): void {
    // A snapshot of the same one replaces it whole; what was drawn keeps its rows by their keys.
    if (answer.conversation.id !== this.conversation?.id) {
      this.usage = undefined;
    }
    this.conversation = new Conversation(answer);
  }

  private happened({ conversationId, events }: ToPage & { type: 'events' }): void {
    const conversation = this.conversation;
    if (conversation === undefined || conversationId !== conversation.id) {
      return;
    }
    const [waited, ran] = [conversation.pending.length, conversation.run !== undefined];
    conversation.events(events);
    const newest = conversation.pending.at(-1);
    if (conversation.pending.length > waited && newest !== undefined) {
      this.spoken = `${newest.kind === 'question' ? 'A question' : 'An approval'} waits: ${newest.title}`;
    } else if (ran && conversation.run === undefined) {
      this.spoken = 'The agent is done.';
    }
  }

  private say(sentence: string): void {
    this.said = sentence;
    clearTimeout(this.forgetting);
    this.forgetting = setTimeout(() => {
      this.said = '';
      this.draw();
    }, SAID_MS);
  }
}
