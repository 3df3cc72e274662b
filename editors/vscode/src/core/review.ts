// Hunks of the agent's edits as a person reviews them.
//
// Owns how a file looked before the hunks that nobody has reviewed yet, and which hunk is meant at a line. Pure.

import type { FileReview, ReviewHunk } from '../protocol.gen';

interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Span {
  readonly start: Position;
  readonly end: Position;
}

export function open(file: FileReview): ReviewHunk[] {
  return file.hunks.filter((hunk) => hunk.state === 'open').sort((one, other) => spanOf(one).start.line - spanOf(other).start.line);
}

/** The place of what a hunk has put into the file; nothing of it can be trusted to be there. */
export function spanOf(hunk: ReviewHunk): Span {
  const range = hunk.range as { start?: Partial<Position>; end?: Partial<Position> };
  const start = { line: range.start?.line ?? 0, character: range.start?.character ?? 0 };
  return { start, end: { line: range.end?.line ?? start.line, character: range.end?.character ?? 0 } };
}

/** The lines of a hunk, the last one included, counted from 0. */
export function linesOf(hunk: ReviewHunk): { first: number; last: number } {
  const { start, end } = spanOf(hunk);
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { first: start.line, last };
}

/** The file with its open hunks taken back; where one is not found at its place, it is left as it is. */
export function before(now: string, file: FileReview): string {
  const starts = lineStarts(now);
  let text = now;
  for (const hunk of open(file).reverse()) {
    const { start } = spanOf(hunk);
    const at = (starts[start.line] ?? now.length) + start.character;
    if (text.slice(at, at + hunk.new.length) === hunk.new) {
      text = text.slice(0, at) + hunk.old + text.slice(at + hunk.new.length);
    }
  }
  return text;
}

/** The open hunk at a line, or the nearest one; `step` looks only beyond the line, round the corner. */
export function hunkAt(file: FileReview, line: number, step?: 1 | -1): ReviewHunk | undefined {
  const hunks = open(file);
  if (step === 1) {
    return hunks.find((hunk) => linesOf(hunk).first > line) ?? hunks[0];
  }
  if (step === -1) {
    return hunks.filter((hunk) => linesOf(hunk).first < line).at(-1) ?? hunks.at(-1);
  }
  const far = (hunk: ReviewHunk): number => {
    const { first, last } = linesOf(hunk);
    return line < first ? first - line : Math.max(0, line - last);
  };
  return hunks.reduce<ReviewHunk | undefined>((best, hunk) => (best === undefined || far(hunk) < far(best) ? hunk : best), undefined);
}

/** `+2 -1` of a hunk. */
export function weight(hunk: ReviewHunk): string {
  const count = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);
  return `+${count(hunk.new)} -${count(hunk.old)}`;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}
