// The way from the page to the extension, and what the page remembers over a reload.

import type { FromPage } from '../src/conversations/messages';

export interface Memory {
  readonly draft: string;
}

interface Host {
  postMessage(message: FromPage): void;
  getState(): Memory | undefined;
  setState(state: Memory): void;
}

// Tests of single parts run without VS Code.
const host: Host | undefined = typeof acquireVsCodeApi === 'function' ? (acquireVsCodeApi() as unknown as Host) : undefined;

export function tell(message: FromPage): void {
  host?.postMessage(message);
}

export function remembered(): Memory {
  return host?.getState() ?? { draft: '' };
}

export function remember(memory: Memory): void {
  host?.setState(memory);
}
