// How high rows are, measured where they have been drawn and guessed where not; and which of them are on the screen.
//
// Owns the arithmetic of a list that draws only what is seen. Does not own drawing. Pure.

export interface Range {
  /** First row to draw, and one past the last. */
  readonly first: number;
  readonly end: number;
}

export class Heights {
  private readonly known = new Map<string, number>();
  private keys: readonly string[] = [];
  private tops: Float64Array = new Float64Array(1);

  /** Rows in their order; `guess` is asked for those that were never measured. */
  arrange(keys: readonly string[], guess: (at: number) => number): void {
    this.keys = keys;
    this.tops = new Float64Array(keys.length + 1);
    keys.forEach((key, at) => {
      this.tops[at + 1] = (this.tops[at] ?? 0) + (this.known.get(key) ?? guess(at));
    });
  }

  /** Whether that is news. */
  measured(key: string, height: number): boolean {
    const old = this.known.get(key);
    this.known.set(key, height);
    return old === undefined || Math.abs(old - height) > 0.5;
  }

  /** Another width makes other heights. */
  forget(): void {
    this.known.clear();
  }

  get total(): number {
    return this.tops[this.keys.length] ?? 0;
  }

  top(at: number): number {
    return this.tops[Math.max(0, Math.min(at, this.keys.length))] ?? 0;
  }

  /** The row at this height. */
  at(y: number): number {
    let low = 0;
    let high = this.keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.tops[middle] ?? 0) <= y) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return Math.max(0, low);
  }

  range(top: number, height: number, margin: number): Range {
    if (this.keys.length === 0) {
      return { first: 0, end: 0 };
    }
    return { first: this.at(Math.max(0, top - margin)), end: Math.min(this.keys.length, this.at(top + height + margin) + 1) };
  }

  indexOf(key: string): number {
    return this.keys.indexOf(key);
  }
}
