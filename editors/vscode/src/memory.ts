// What this workspace's window remembers: the conversation in its chat, and what was being written in each.
//
// Owns a small file of its own: VS Code keeps an extension's state in the browser or writes it down seconds later, and a
// window that is killed or reloaded has lost it by then.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';

const MOST_DRAFTS = 50;
const NEW = '';

interface Held {
  readonly conversation?: string | undefined;
  readonly drafts: Record<string, string>;
}

export class Memory {
  private held: Held = { drafts: {} };
  private mine: string | undefined;

  /** Without a folder (no workspace is open) it remembers as long as it lives. */
  constructor(private readonly folder: string | undefined) {
    this.held = this.found() ?? this.held;
    this.mine = this.held.conversation;
  }

  get conversation(): string | undefined {
    return this.mine === NEW ? undefined : this.mine;
  }

  /** Whether the person was about to begin a new one: then no other is put before them. */
  get beginning(): boolean {
    return this.mine === NEW;
  }

  set conversation(id: string | undefined) {
    this.mine = id ?? NEW;
    this.keep({ ...this.newest(), conversation: this.mine });
  }

  /** `''` is the conversation that is not there yet. */
  draft(conversation: string | undefined): string {
    return this.held.drafts[conversation ?? ''] ?? '';
  }

  write(conversation: string | undefined, text: string): void {
    const key = conversation ?? '';
    const newest = this.newest();
    const others = Object.entries(newest.drafts).filter(([known]) => known !== key);
    const drafts = Object.fromEntries(text === '' ? others : [...others.slice(1 - MOST_DRAFTS), [key, text]]);
    this.keep({ ...newest, drafts });
  }

  /** Another window on this workspace may have written meanwhile. */
  private newest(): Held {
    return this.found() ?? this.held;
  }

  private get file(): string {
    return path.join(this.folder ?? '', 'window.json');
  }

  private found(): Held | undefined {
    if (this.folder === undefined) {
      return undefined;
    }
    try {
      const found = JSON.parse(readFileSync(this.file, 'utf8')) as Partial<Held> | null;
      const drafts = Object.entries(found?.drafts ?? {}).filter(([, text]) => typeof text === 'string');
      return { conversation: typeof found?.conversation === 'string' ? found.conversation : undefined, drafts: Object.fromEntries(drafts) };
    } catch {
      // The first time there is none.
      return undefined;
    }
  }

  private keep(held: Held): void {
    this.held = held;
    if (this.folder === undefined) {
      return;
    }
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const fresh = `${this.file}.${process.pid}`;
      writeFileSync(fresh, JSON.stringify(held), { mode: 0o600 });
      renameSync(fresh, this.file);
    } catch {
      // A disk that is full costs a draft, not the window.
    }
  }
}
