// Output, diffs and commands: text of others, line by line, as text.
//
// Owns what is cut when it is long, and that what was cut can be opened whole in an editor.

import type { JSX } from 'preact';

import { memo } from './memo';
import { tell } from './host';
import { escaped, named, prose } from '../src/core/display';
import { lines as linesOf, type DiffLine } from '../src/core/diff';

const MOST_LINES = 200;
/** Of what waits for an answer; all of it opens in an editor. */
const MOST_LINES_WHOLE = 3_000;
const LONGEST_LINE = 2_000;
const LONGEST_WORDS = 10_000;
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
  const most = whole ? MOST_LINES_WHOLE : MOST_LINES;
  const shown = all.slice(0, most);
  return (
    <div class="diff">
      <pre tabIndex={0}>
        {grouped(shown).map(({ kind, text: lines }, at) => (
          <span key={at} class={`line ${kind}`}>
            {lines}
          </span>
        ))}
      </pre>
      {shown.length < all.length && (
        <button class="link" onClick={() => tell({ type: 'text', text, title: 'change.diff', language: 'diff' })}>
          … {(all.length - shown.length).toLocaleString('en')} more lines: open all of it
        </button>
      )}
    </div>
  );
});

/** Lines of one kind that follow each other are one element: a new file of a thousand lines is drawn at once. */
function grouped(lines: readonly DiffLine[]): DiffLine[] {
  const found: { kind: DiffLine['kind']; text: string }[] = [];
  for (const { kind, text } of lines) {
    const last = found.at(-1);
    const shown = `${kind === 'hunk' ? text.replace(/^(@@[^@]*@@).*$/, '$1') : shortened(named(text.slice(0, LONGEST_LINE)), text.length)}\n`;
    if (last !== undefined && last.kind === kind && kind !== 'file') {
      last.text += shown;
    } else {
      found.push({ kind, text: shown });
    }
  }
  return found;
}

/** A command as it will run: every sign of it, those that cannot be seen by name. */
export function Command({ text }: { readonly text: string }): JSX.Element {
  return (
    <pre class="command" tabIndex={0}>
      {escaped(text)}
    </pre>
  );
}

/** Words of a person or of the daemon: as they are, and not without end. */
export function Words({ text, title }: { readonly text: string; readonly title: string }): JSX.Element {
  const shown = text.length > LONGEST_WORDS ? text.slice(0, LONGEST_WORDS) : text;
  return (
    <>
      <p class="plain">{escaped(prose(shown))}</p>
      {shown.length < text.length && (
        <button class="link" onClick={() => tell({ type: 'text', text, title })}>
          … {(text.length - shown.length).toLocaleString('en')} more characters: open all of it
        </button>
      )}
    </>
  );
}
