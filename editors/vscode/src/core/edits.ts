// "Edit, then allow": from what the agent wants to do to a text that a person can change, and back to what is allowed.
//
// Owns which part of an input is edited and how the edited text becomes an input again. Does not own the editor it is
// done in. Pure.

import type { Request } from '../protocol.gen';

export interface Draft {
  /** What the person edits; for a change of a file the whole file as it would be. */
  readonly text: string;
  readonly kind: 'command' | 'file' | 'patch' | 'plan' | 'json';
  readonly input: (edited: string) => Record<string, unknown> | Trouble;
}

export interface Trouble {
  readonly trouble: string;
}

interface Edit {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

/** `before` is the file as it is now; undefined where there is none. */
export function draftOf(request: Request, before: string | undefined): Draft {
  const input = request.input ?? {};
  if (typeof input.command === 'string') {
    return { text: input.command, kind: 'command', input: (edited) => commandOf(input, edited) };
  }
  if (request.kind === 'plan' && typeof input.markdown === 'string') {
    return { text: input.markdown, kind: 'plan', input: (edited) => ({ markdown: edited }) };
  }
  if (typeof input.content === 'string' && typeof input.path === 'string') {
    return { text: input.content, kind: 'file', input: (edited) => ({ ...input, content: edited }) };
  }
  if (typeof input.patch === 'string' && Object.keys(input).length === 1) {
    return { text: input.patch, kind: 'patch', input: (edited) => ({ patch: edited }) };
  }
  if (Array.isArray(input.edits) && before !== undefined) {
    const after = applied(before, input.edits as Edit[]);
    if (after !== undefined) {
      return { text: after, kind: 'file', input: (edited) => editOf(input, before, edited) };
    }
  }
  return { text: `${JSON.stringify(input, undefined, 2)}\n`, kind: 'json', input: parsed };
}

/** Whether there is anything in it that could be edited. */
export function editable(request: Request): boolean {
  return request.kind !== 'question' && Object.keys(request.input ?? {}).length > 0;
}

/** The text after literal edits; undefined where one of them does not fit it any more. */
export function applied(before: string, edits: readonly Edit[]): string | undefined {
  let text = before;
  for (const edit of edits) {
    const pieces = text.split(edit.old);
    if (edit.old === '' || pieces.length < 2 || (pieces.length > 2 && edit.all !== true)) {
      return undefined;
    }
    text = pieces.join(edit.new);
  }
  return text;
}

/** One literal edit that makes `after` of `before`: whole lines, and as many around them as make its place unique. */
export function oneEdit(before: string, after: string): Edit | undefined {
  if (before === after) {
    return undefined;
  }
  const old = linesOf(before);
  const made = linesOf(after);
  let head = 0;
  while (head < old.length && head < made.length && old[head] === made[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < old.length - head && tail < made.length - head && old.at(-1 - tail) === made.at(-1 - tail)) {
    tail += 1;
  }
  for (;;) {
    const wanted = old.slice(head, old.length - tail).join('');
    if (wanted !== '' && before.indexOf(wanted) === before.lastIndexOf(wanted)) {
      return { old: wanted, new: made.slice(head, made.length - tail).join('') };
    }
    if (head === 0 && tail === 0) {
      return undefined;
    }
    head = Math.max(0, head - 1);
    tail = Math.max(0, tail - 1);
  }
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function commandOf(input: Record<string, unknown>, edited: string): Record<string, unknown> | Trouble {
  const command = edited.replace(/\n+$/, '');
  return command.trim() === '' ? { trouble: 'The command is empty.' } : { ...input, command };
}

function editOf(input: Record<string, unknown>, before: string, edited: string): Record<string, unknown> | Trouble {
  const edit = oneEdit(before, edited);
  return edit === undefined
    ? { trouble: 'That is the file as it is already; deny the change instead.' }
    : { ...input, edits: [edit] };
}

function parsed(edited: string): Record<string, unknown> | Trouble {
  try {
    const value: unknown = JSON.parse(edited);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Told below: what is wrong with it, the editor shows.
  }
  return { trouble: 'This is no JSON object; correct it, then allow it.' };
}
