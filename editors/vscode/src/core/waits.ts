// The wait before a model is asked again, in seconds that a person can read. Pure.

/** Whole seconds, never more than the wait is long: the page's clock may be another one than the daemon's. */
export function secondsLeft({ since, until, now }: { readonly since: string; readonly until: string; readonly now: number }): number {
  const [begin, end] = [Date.parse(since), Date.parse(until)];
  const left = Number.isNaN(end) ? 0 : end - now;
  return Math.ceil(Math.max(0, Number.isNaN(begin) ? left : Math.min(left, end - begin)) / 1000);
}

/** `9 s`, `2 min 5 s`. */
export function shownSeconds(seconds: number): string {
  const rest = seconds % 60;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${rest === 0 ? '' : ` ${rest} s`}`;
}
