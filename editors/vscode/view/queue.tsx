// Messages that wait until the run has ended: seen, edited, moved, let go before their turn.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import { tell } from './host';
import { messageTitle } from '../src/core/labels';
import type { Run } from '../src/protocol.gen';

export function Queue({ runs, held, running }: { readonly runs: readonly Run[]; readonly held: boolean; readonly running: boolean }): JSX.Element | null {
  if (runs.length === 0) {
    return null;
  }
  return (
    <section class="queue" aria-label="Queue">
      <h3>
        {runs.length === 1 ? '1 message waits' : `${runs.length} messages wait`}
        {held && ', held'}
        <span class="space" />
        <button class="link" onClick={() => tell({ type: 'queue', op: held ? 'release' : 'hold' })}>
          {held ? 'Let them go' : 'Hold'}
        </button>
      </h3>
      <ol>
        {runs.map((run, at) => (
          <Queued key={run.id} run={run} before={runs[at - 1]?.id} running={running} />
        ))}
      </ol>
    </section>
  );
}

function Queued({ run, before, running }: { readonly run: Run; readonly before: string | undefined; readonly running: boolean }): JSX.Element {
  const [text, setText] = useState<string | undefined>(undefined);
  const title = messageTitle(run.content);
  const words = (run.content ?? []).map((block) => block.text ?? '').join('\n').trim();
  const save = (): void => {
    if (text !== undefined && text.trim() !== '') {
      tell({ type: 'queue', op: 'edit', runId: run.id, text });
    }
    setText(undefined);
  };
  const button = (icon: string, label: string, work: () => void): JSX.Element => <button class={`icon codicon codicon-${icon}`} aria-label={`${label}: ${title}`} title={label} onClick={work} />;
  return (
    <li>
      {text === undefined ? (
        <span class="queued">{title}</span>
      ) : (
        <input
          class="reason"
          aria-label="The message"
          value={text}
          ref={focused}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => (event.key === 'Enter' ? save() : event.key === 'Escape' ? setText(undefined) : undefined)}
        />
      )}
      {text === undefined ? button('edit', 'Edit', () => setText(words)) : button('check', 'Save', save)}
      {before !== undefined && button('arrow-up', 'Move up', () => tell({ type: 'queue', op: 'move', runId: run.id, before }))}
      {running && button('arrow-circle-right', 'Steer with it now', () => tell({ type: 'queue', op: 'promote', runId: run.id }))}
      {button('trash', 'Remove', () => tell({ type: 'queue', op: 'remove', runId: run.id }))}
    </li>
  );
}

function focused(input: HTMLInputElement | null): void {
  if (input !== document.activeElement) {
    input?.focus();
  }
}
