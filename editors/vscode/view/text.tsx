// Output, diffs and commands: text of others, line by line, as text.
//
// Owns what is cut when it is long, and that what was cut can be opened whole in an editor.

import type { JSX } from 'preact';

import { memo } from './memo';
import { tell } from './host';
import { escaped, named } from '../src/core/display';
import { lines as linesOf } from '../src/core/diff';

const MOST_LINES = 200;
const LONGEST_LINE = 2_000;
const LONGEST_SPLIT = 400_000;

interface OutputProps {
  readonly text: string;
  readonly title: string;
  /** The last lines are those that matter: of a command, of something that runs. */
  readonly tail?: boolean;
  /** Digest of what was left out of it already. */
  readonly blob?: string | undefined;
}

export const Output = memo(({ text, title, tail = false, blob }: OutputProps): JSX.Element => {
  const part = text.length <= LONGEST_SPLIT ? text : tail ? text.slice(-LONGEST_SPLIT) : text.slice(0, LONGEST_SPLIT);
  const all = part.replace(/\n$/, '').split('\n');
  const shown = tail ? all.slice(-MOST_LINES) : all.slice(0, MOST_LINES);
  const cut = shown.length < all.length || part.length < text.length || shown.some((line) => line.length > LONGEST_LINE);
  return (
    <div class="output">
      <pre tabIndex={0}>{shown.map((line) => shortened(named(line.slice(0, LONGEST_LINE)), line.length)).join('\n')}</pre>
      {cut && (
        <button class="link" onClick={() => tell({ type: 'text', text, title })}>
          {tail ? 'The end of it is shown' : 'The beginning of it is shown'}: open all {all.length.toLocaleString('en')} lines
        </button>
      )}
      {blob !== undefined && (
        <button class="link" onClick={() => tell({ type: 'blob', digest: blob, title })}>
          Open all of it
        </button>
      )}
    </div>
  );
});

function shortened(line: string, length: number): string {
  return length > LONGEST_LINE ? `${line} …${(length - LONGEST_LINE).toLocaleString('en')} more` : line;
}

export const Diff = memo(({ text, whole = false }: { readonly text: string; readonly whole?: boolean }): JSX.Element => {
  const all = linesOf(text);
  const shown = whole ? all : all.slice(0, MOST_LINES);
  return (
    <div class="diff">
      <pre tabIndex={0}>
        {shown.map(({ kind, text: line }, at) => (
          <span key={at} class={`line ${kind}`}>
            {kind === 'hunk' ? line.replace(/^(@@[^@]*@@).*$/, '$1') : shortened(named(line.slice(0, LONGEST_LINE)), line.length)}
            {'\n'}
          </span>
        ))}
      </pre>
      {shown.length < all.length && (
        <button class="link" onClick={() => tell({ type: 'text', text, title: 'change.diff', language: 'diff' })}>
          … {all.length - shown.length} more lines: open all of it
        </button>
      )}
    </div>
  );
});

/** A command as it will run: every sign of it, those that cannot be seen by name. */
export function Command({ text }: { readonly text: string }): JSX.Element {
  return (
    <pre class="command" tabIndex={0}>
      {escaped(text)}
    </pre>
  );
}
