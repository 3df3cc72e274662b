// What is written in the input: the word beneath the cursor, and the message as blocks.
//
// Owns what `@` and `/` mean in it. Pure.

import type { Block } from '../src/protocol.gen';

export interface Word {
  readonly kind: 'file' | 'command';
  readonly text: string;
  /** Where it begins, its sign included. */
  readonly from: number;
}

export const COMMANDS: readonly (readonly [name: string, what: string])[] = [
  ['new', 'Begin a new conversation'],
  ['open', 'Open another conversation'],
  ['model', 'Switch the model'],
  ['mode', 'Switch how much it may do without asking'],
  ['review', 'Review the changes of the agent'],
  ['compact', 'Make room: summarize what is older; words after it say what matters'],
  ['fork', 'Go on from here in a conversation of its own'],
  ['rename', 'Rename the conversation'],
  ['export', 'Export the conversation as Markdown'],
  ['stop', 'Stop the run'],
  ['hurry', 'Try again now instead of after the wait'],
  ['retry', 'Ask again what failed or was stopped'],
  ['rules', 'Show the rules'],
  ['locks', 'Show the locks'],
  ['status', 'Show the status of the daemon'],
  ['log', 'Show the log of the daemon'],
  ['restart', 'Restart the daemon'],
  ['settings', 'Open the settings'],
];

/** The `@file` or `/command` that the cursor stands at the end of. */
export function wordAt(text: string, cursor: number): Word | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([a-z]*)$/.exec(before);
  if (command !== null) {
    return { kind: 'command', text: command[1] ?? '', from: 0 };
  }
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  return file === null ? undefined : { kind: 'file', text: file[1] ?? '', from: cursor - (file[1] ?? '').length - 1 };
}

/** A line that is a command of ours: its name and what stands after it. */
export function commandOf(text: string): { name: string; argument: string } | undefined {
  const found = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  const name = found?.[1];
  return name !== undefined && COMMANDS.some(([known]) => known === name) ? { name, argument: (found?.[2] ?? '').trim() } : undefined;
}

/** The words, the files that were named in them, and pictures. */
export function blocksOf(text: string, files: ReadonlyMap<string, string>, images: readonly Block[]): Block[] {
  const words = text.trim();
  const named = [...files].filter(([path]) => new RegExp(`(?:^|\\s)@${escapedForRegExp(path)}(?=\\s|[.,;:!?)]|$)`).test(words));
  return [...(words === '' ? [] : [{ type: 'text', text: words }]), ...named.map(([, uri]) => ({ type: 'file', uri })), ...images];
}

function escapedForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
