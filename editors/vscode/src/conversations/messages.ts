// What the extension and the chat's page say to each other.
//
// Owns these shapes. Everything that comes from the page is checked where it is used: the page shows text of others.

import type {
  Block, ContextUse, ConversationSummary, Decision, Event, ItemPage, Presence, StreamPart,
} from '../protocol.gen';
import type { Snapshot } from '../core/conversation';

export type LinkState = 'starting' | 'ready' | 'missing' | 'down';
export type Dispatch = 'auto' | 'queue' | 'steer';

export interface Chip {
  readonly label: string;
  readonly title: string;
}

export interface Entry {
  readonly label: string;
  readonly detail: string;
  readonly uri: string;
}

export interface Tool {
  readonly name: string;
  readonly state: string;
  readonly tools: number;
}

export type ToPage =
  | { readonly type: 'link'; readonly state: LinkState; readonly trusted: boolean; readonly folder: boolean; readonly whileRunning: 'queue' | 'steer'; readonly sentence?: string }
  | { readonly type: 'attached'; readonly answer: Snapshot }
  | { readonly type: 'none' }
  | { readonly type: 'older'; readonly page: ItemPage }
  | { readonly type: 'events'; readonly conversationId: string; readonly events: readonly Event[] }
  | { readonly type: 'streams'; readonly conversationId: string; readonly parts: readonly StreamPart[] }
  | { readonly type: 'usage'; readonly use: ContextUse | undefined }
  | { readonly type: 'windows'; readonly windows: readonly Presence[] }
  | { readonly type: 'servers'; readonly servers: readonly Tool[] }
  | { readonly type: 'summaries'; readonly summaries: readonly ConversationSummary[] }
  | { readonly type: 'chips'; readonly chips: readonly Chip[] }
  | { readonly type: 'completions'; readonly token: number; readonly entries: readonly Entry[] }
  | { readonly type: 'compose'; readonly text?: string; readonly focus: boolean }
  | { readonly type: 'sent'; readonly token: number; readonly ok: boolean }
  | { readonly type: 'draft'; readonly text: string }
  | { readonly type: 'say'; readonly sentence: string };

export type FromPage =
  | { readonly type: 'ready' }
  | { readonly type: 'send'; readonly token: number; readonly conversationId?: string; readonly content: Block[]; readonly dispatch: Dispatch }
  | { readonly type: 'draft'; readonly text: string }
  | { readonly type: 'stop' }
  | { readonly type: 'answer'; readonly requestId: string; readonly digest: string; readonly decision: Decision; readonly optionId?: string; readonly scope?: 'once' | 'conversation' | 'workspace'; readonly reason?: string; readonly answers?: Record<string, string | string[]> }
  | { readonly type: 'edit'; readonly requestId: string }
  | { readonly type: 'details'; readonly requestId: string }
  | { readonly type: 'queue'; readonly op: 'edit' | 'remove' | 'move' | 'promote' | 'release' | 'hold'; readonly runId?: string; readonly text?: string; readonly before?: string }
  | { readonly type: 'complete'; readonly token: number; readonly text: string }
  | { readonly type: 'attach' }
  | { readonly type: 'unchip'; readonly at: number }
  | { readonly type: 'link'; readonly href: string }
  | { readonly type: 'file'; readonly uri: string; readonly line?: number }
  | { readonly type: 'blob'; readonly digest: string; readonly title: string }
  | { readonly type: 'text'; readonly text: string; readonly title: string; readonly language?: string }
  | { readonly type: 'open'; readonly conversationId: string }
  | { readonly type: 'retry'; readonly runId: string }
  | { readonly type: 'hurry'; readonly runId: string }
  | { readonly type: 'stopItem'; readonly runId: string; readonly itemId: string }
  | { readonly type: 'command'; readonly name: string; readonly argument: string };
