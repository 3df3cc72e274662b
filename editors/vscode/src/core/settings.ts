// The extension's settings with their types, whatever stands in a file of settings.
//
// Owns that a value of another type counts as none: VS Code marks it in its editor and hands it over all the same. Pure.

import type { Mode } from '../protocol.gen';

export interface Settings {
  readonly command: string;
  readonly model: string;
  readonly mode: Mode | '';
  readonly whileRunning: 'queue' | 'steer';
  readonly comments: boolean;
  readonly approvalLenses: boolean;
  readonly reviewLenses: boolean;
  readonly statusBar: boolean;
}

const MODES = ['', 'ask', 'edits', 'plan'] as const;
const WHILE_RUNNING = ['queue', 'steer'] as const;

export function resolved(held: (name: string) => unknown): Settings {
  return {
    command: words(held('command')),
    model: words(held('model')),
    mode: oneOf(MODES, held('mode')),
    whileRunning: oneOf(WHILE_RUNNING, held('whileRunning')),
    comments: held('approvals.comments') !== false,
    approvalLenses: held('approvals.codeLens') !== false,
    reviewLenses: held('review.codeLens') !== false,
    statusBar: held('statusBar') !== false,
  };
}

function words(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** The first one is what counts where there is none. */
function oneOf<T extends string>(known: readonly [T, ...T[]], value: unknown): T {
  return known.find((one) => one === value) ?? known[0];
}
