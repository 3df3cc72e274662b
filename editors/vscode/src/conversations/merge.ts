// Parts of text in flight that came within a moment, as few as say the same. Pure.

import type { StreamPart } from '../protocol.gen';

/** One part an item, where they only go on. */
export function merged(parts: readonly StreamPart[]): StreamPart[] {
  const found: StreamPart[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    const goesOn = last?.itemId === part.itemId && last.phase === part.phase && part.text === undefined && last.text === undefined;
    if (last === undefined || !goesOn) {
      found.push({ ...part });
    } else {
      last.cursor = part.cursor;
      if (part.delta !== undefined) {
        last.delta = (last.delta ?? '') + part.delta;
      }
      if (part.output !== undefined) {
        last.output = (last.output ?? '') + part.output;
      }
    }
  }
  return found;
}
