// Text as a person may safely judge it: nothing in it can hide, reorder or overwrite what will run.
//
// Owns which characters are shown by name and how a long line is shortened without losing its end; the same rules as the
// daemon's core/display.py. Pure.

const LONGEST_BLANK = 8;
const TITLE_LENGTH = 160;

// Controls, formats (bidi, zero width), surrogates, private use, unassigned, line and paragraph separators, every space but
// the plain one; letters and symbols that are drawn as nothing; variation selectors.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const SEEN = new Set(['\n', '\t', ' ']);
const PLAIN = /^[\x20-\x7e\n\t]*$/;
const BLANKS = new RegExp(` {${LONGEST_BLANK + 1},}|\t{${LONGEST_BLANK + 1},}|\n{${LONGEST_BLANK + 1},}`, 'g');
const KINDS: Record<string, string> = { ' ': 'spaces', '\t': 'tabs', '\n': 'line ends' };

/** Every unseen character by its name, `⟨U+202E⟩`; for text whose blanks carry meaning, such as a diff. */
export function named(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSEEN, (char) => (SEEN.has(char) ? char : nameOf(char)));
}

/** `named`, and long blanks counted; lines stay lines. */
export function escaped(text: string): string {
  return named(text).replace(BLANKS, (blank) => ` ⟨${blank.length} ${KINDS[blank[0] ?? ' '] ?? ''}⟩ `);
}

/** A title: on one line, its middle left out when it is long, so that its end is always seen. */
export function oneLine(text: string, limit = TITLE_LENGTH): string {
  const line = escaped(text).replaceAll('\n', '⏎').replaceAll('\t', ' ');
  if (line.length <= limit) {
    return line;
  }
  const tail = Math.floor(limit / 2);
  return `${line.slice(0, limit - tail)} …${line.length - limit} more… ${line.slice(-tail)}`;
}

/** Names of the unseen characters, each once. */
export function hidden(text: string): string[] {
  if (PLAIN.test(text)) {
    return [];
  }
  const found = [...text.matchAll(UNSEEN)].map((match) => match[0]).filter((char) => !SEEN.has(char));
  return [...new Set(found)].map(nameOf);
}

/** The sentence that goes with a card whose text holds unseen characters. */
export function warning(text: string): string | undefined {
  const names = hidden(text);
  if (names.length === 0) {
    return undefined;
  }
  const some = names.slice(0, 5).join(', ') + (names.length > 5 ? ', …' : '');
  return `Holds characters that would not be seen; they are shown by name: ${some}.`;
}

/** Prose of the model: what ends lines in a terminal is gone, what moves or hides text is named. */
export function prose(text: string): string {
  return named(text.replace(/\r\n?/g, '\n'));
}

/** For places where VS Code reads `$(icon)` and `[links](command:x)` in a text: there they stay what they are. */
export function unadorned(text: string): string {
  return text.replaceAll('$(', '$ (').replaceAll('](', '] (');
}

/** A text out of an object that anybody may have made. */
export function word(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : otherwise;
}

function nameOf(char: string): string {
  return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
