// The second key of a chord, pressed while the page has the focus: it is VS Code's, and no letter of a message.
//
// Owns which keys begin a chord here: those of the extension, and Ctrl+K. The page hears of a key before VS Code does, and
// VS Code hears of it all the same. Pure.

export interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly timeStamp: number;
}

/** As long as VS Code waits for it. */
const WAITS_MS = 5000;
const MODIFIERS = new Set(['Control', 'Alt', 'Shift', 'Meta', 'AltGraph']);

export class Chords {
  private begun: number | undefined;

  /** Whether this key ends a chord: then it writes nothing. */
  ends(given: Key): boolean {
    if (MODIFIERS.has(given.key)) {
      return false;
    }
    const ends = this.begun !== undefined && given.timeStamp - this.begun < WAITS_MS;
    this.begun = !ends && begins(given) ? given.timeStamp : undefined;
    return ends;
  }
}

function begins({ key, ctrlKey, metaKey, altKey }: Key): boolean {
  const letter = key.toLowerCase();
  return (ctrlKey || metaKey) && ((altKey && letter === 'a') || (!altKey && letter === 'k'));
}
