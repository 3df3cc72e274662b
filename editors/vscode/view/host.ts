// The way from the page to the extension.

import type { FromPage } from '../src/conversations/messages';

interface Host {
  postMessage(message: FromPage): void;
}

// Tests of single parts run without VS Code.
const host: Host | undefined = typeof acquireVsCodeApi === 'function' ? (acquireVsCodeApi()) : undefined;

export function tell(message: FromPage): void {
  host?.postMessage(message);
}
