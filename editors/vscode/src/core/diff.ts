// Unified diffs as the daemon writes them, read line by line.
//
// Owns where a change begins and how many lines it adds and takes. Does not own how it is drawn. Pure.

export type LineKind = 'file' | 'hunk' | 'add' | 'delete' | 'same';

export interface DiffLine {
  readonly kind: LineKind;
  readonly text: string;
}

export interface Span {
  /** First and last line of the old text, counted from 0. */
  readonly first: number;
  readonly last: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const NAMES = /^(?:---|\+\+\+) (?:[ab]\/)?(.*?)\t?$/;

/** The lines of a diff; of one over several files each begins with its name. */
export function lines(diff: string): DiffLine[] {
  const found = read(diff);
  return found.filter(({ kind }) => kind === 'file').length > 1 ? found : found.filter(({ kind }) => kind !== 'file');
}

/** A diff over several files, cut into one for each. */
export function perFile(diff: string): string[] {
  const found: string[][] = [];
  let [old, fresh] = [0, 0];
  for (const text of split(diff)) {
    const inside = old > 0 || fresh > 0;
    if (found.length === 0 || (!inside && text.startsWith('--- '))) {
      found.push([]);
    }
    found.at(-1)?.push(text);
    [old, fresh] = inside ? left(text, old, fresh) : opened(text);
  }
  return found.map((part) => `${part.join('\n')}\n`);
}

/** Hunks say how many lines they have: only outside of them does `---` name a file. */
function read(diff: string): DiffLine[] {
  const found: DiffLine[] = [];
  let [old, fresh] = [0, 0];
  let name = '';
  for (const text of split(diff)) {
    if (old > 0 || fresh > 0) {
      found.push({ kind: kindOf(text), text });
      [old, fresh] = left(text, old, fresh);
    } else if (HUNK.test(text)) {
      found.push({ kind: 'hunk', text });
      [old, fresh] = opened(text);
    } else if (text.startsWith('--- ')) {
      name = NAMES.exec(text)?.[1] ?? '';
    } else if (text.startsWith('+++ ')) {
      const after = NAMES.exec(text)?.[1] ?? '';
      found.push({ kind: 'file', text: after === '/dev/null' ? `${name} (removed)` : name !== after && name !== '/dev/null' && name !== '' ? `${name} → ${after}` : after });
    } else if (found.length > 0) {
      found.push({ kind: 'same', text });
    }
  }
  return found;
}

function split(diff: string): string[] {
  const given = diff.split('\n');
  return given.at(-1) === '' ? given.slice(0, -1) : given;
}

function opened(text: string): [number, number] {
  const [whole, , old, fresh] = HUNK.exec(text) ?? [];
  return whole === undefined ? [0, 0] : [Number(old ?? 1), Number(fresh ?? 1)];
}

function left(text: string, old: number, fresh: number): [number, number] {
  switch (kindOf(text)) {
    case 'add':
      return [old, fresh - 1];
    case 'delete':
      return [old - 1, fresh];
    default:
      return text.startsWith('\\') ? [old, fresh] : [old - 1, fresh - 1];
  }
}

function kindOf(line: string): LineKind {
  return line.startsWith('+') ? 'add' : line.startsWith('-') ? 'delete' : 'same';
}

/** Lines of the old text that the first change touches; where it only adds, the line that it goes before. */
export function firstChange(diff: string): Span {
  let row = 0;
  let first: number | undefined;
  let last = 0;
  for (const { kind, text } of lines(diff)) {
    if (first !== undefined && kind !== 'add' && kind !== 'delete') {
      break;
    }
    if (kind === 'file') {
      continue;
    }
    if (kind === 'hunk') {
      const [, start, count] = HUNK.exec(text) ?? [];
      row = Math.max(0, Number(start ?? 1) - (count === '0' ? 0 : 1));
    } else if (kind === 'same') {
      row += text.startsWith('\\') ? 0 : 1;
    } else {
      first ??= row;
      last = Math.max(first, kind === 'delete' ? row : last);
      row += kind === 'delete' ? 1 : 0;
    }
  }
  return { first: first ?? 0, last: Math.max(first ?? 0, last) };
}

export interface Count {
  readonly added: number;
  readonly removed: number;
}

export function count(diff: string): Count {
  let added = 0;
  let removed = 0;
  for (const { kind } of lines(diff)) {
    added += kind === 'add' ? 1 : 0;
    removed += kind === 'delete' ? 1 : 0;
  }
  return { added, removed };
}

/** Where the first hunk stands in a text that may have moved on since: the nearest place that still has its old lines. */
export function located(text: string, diff: string): Span {
  const stated = firstChange(diff);
  const all = lines(diff);
  const end = all.findIndex((line, at) => at > 0 && line.kind === 'hunk');
  const hunk = all.slice(1, end === -1 ? undefined : end).filter(({ kind, text: said }) => kind !== 'add' && !said.startsWith('\\'));
  const old = hunk.map(({ text: said }) => said.slice(1));
  const [, start] = HUNK.exec(all[0]?.text ?? '') ?? [];
  const wanted = Math.max(0, Number(start ?? 1) - 1);
  const given = text.split(/\r?\n/);
  const fits = (at: number): boolean => at >= 0 && old.every((line, place) => given[at + place] === line);
  for (let away = 0; old.length > 0 && away <= given.length; away += 1) {
    const at = fits(wanted - away) ? wanted - away : fits(wanted + away) ? wanted + away : undefined;
    if (at !== undefined) {
      return { first: stated.first + at - wanted, last: stated.last + at - wanted };
    }
  }
  return stated;
}
