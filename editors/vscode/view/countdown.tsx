// The wait before a model is asked again: how long it still is, and a way not to wait.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { tell } from './host';
import { secondsLeft, shownSeconds } from '../src/core/waits';

interface Props {
  /** Moments by the daemon's clock. */
  readonly since: string;
  readonly until: string;
  readonly runId: string;
}

export function Countdown({ since, until, runId }: Props): JSX.Element {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  const left = secondsLeft({ since, until, now });
  return (
    <span class="countdown">
      <span role="timer">{left > 0 ? `Next try in ${shownSeconds(left)}` : 'Trying again'}</span>.{' '}
      <button class="link" onClick={() => tell({ type: 'hurry', runId })}>
        Try now
      </button>
    </span>
  );
}
