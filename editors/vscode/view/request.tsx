// A request in the chat: all that an answer would allow, and the answers.
//
// Owns that nothing of it is cut and that its buttons are dead in the moment in which nobody can have read it. The
// extension looks again (core/requests.ts).

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { tell } from './host';
import { Markdown } from './markdown';
import { Questions } from './questions';
import { Command, Diff, Output } from './text';
import { editable } from '../src/core/edits';
import { askedFor, beside, requestTitle, rulesKept } from '../src/core/labels';
import { oneLine, warning, word } from '../src/core/display';
import { UNREAD_MS, scopeOf } from '../src/core/requests';
import type { Option, Request } from '../src/protocol.gen';

export function RequestCard({ request }: { readonly request: Request }): JSX.Element {
  const fresh = useFresh(`${request.id} ${request.digest}`);
  const command = typeof request.card?.command === 'string';
  return (
    <section class={`card ${fresh ? 'fresh' : ''}`} aria-label={`${request.kind} number ${request.number}`}>
      <h3 class="card-head">
        <span class="codicon codicon-bell-dot" aria-hidden="true" /> #{request.number} {command ? 'Run a command' : requestTitle(request)}
      </h3>
      {askedFor(request) !== undefined && <p class="dim">{askedFor(request)}</p>}
      {request.kind === 'question' ? <Questions request={request} fresh={fresh} /> : <Approval request={request} fresh={fresh} />}
    </section>
  );
}

/** True in the first moment after this card came or changed. */
function useFresh(shown: string): boolean {
  const [read, setRead] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setRead(shown), UNREAD_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return read !== shown;
}

function Approval({ request, fresh }: { readonly request: Request; readonly fresh: boolean }): JSX.Element {
  const [denying, setDenying] = useState(false);
  const [reason, setReason] = useState('');
  const said = { type: 'answer', requestId: request.id, digest: request.digest } as const;
  const allows = request.options.filter((option) => option.decision === 'allow');
  const deny = (): void => tell({ ...said, decision: 'deny', ...(reason.trim() === '' ? {} : { reason }) });
  return (
    <>
      <Body request={request} />
      <Rules options={allows} />
      <div class="answers">
        {allows.map((option, at) => (
          <button key={option.id} class={at === 0 ? 'primary' : ''} aria-disabled={fresh} onClick={() => !fresh && tell({ ...said, decision: 'allow', optionId: option.id, ...scopeOf(option) })}>
            {oneLine(option.label, 60)}
          </button>
        ))}
        {editable(request) && (
          <button aria-disabled={fresh} onClick={() => !fresh && tell({ type: 'edit', requestId: request.id })}>
            Edit…
          </button>
        )}
        <button aria-disabled={fresh} aria-expanded={denying} onClick={() => !fresh && (denying ? deny() : setDenying(true))}>
          {denying ? 'Deny' : 'Deny…'}
        </button>
        {request.card?.type === 'edit' && (
          <button class="link" onClick={() => tell({ type: 'details', requestId: request.id })}>
            Open as diff
          </button>
        )}
      </div>
      {denying && (
        <input
          class="reason"
          placeholder="Why? The agent is told. Enter denies, Escape does not."
          aria-label={`Reason for denying number ${request.number}`}
          value={reason}
          ref={(input) => input?.focus()}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => (event.key === 'Enter' ? deny() : event.key === 'Escape' ? setDenying(false) : undefined)}
        />
      )}
    </>
  );
}

function Body({ request }: { readonly request: Request }): JSX.Element {
  const card = request.card ?? {};
  if (request.kind === 'plan') {
    return <Markdown text={word(request.input?.['markdown'])} title="plan.md" />;
  }
  if (typeof card.command === 'string') {
    return (
      <>
        <Command text={card.command} />
        <Warning text={card.command} />
        {typeof card.cwd === 'string' && <p class="dim">in {oneLine(card.cwd, 1000)}</p>}
        {beside(card).map((line, at) => (
          <p key={at} class="warn plain">
            {line}
          </p>
        ))}
      </>
    );
  }
  if (typeof card.diff === 'string') {
    return (
      <>
        <Warning text={card.diff} />
        <Diff text={card.diff} whole />
      </>
    );
  }
  const given = Object.entries(request.input ?? card).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return <Output text={given.join('\n')} title={`request ${request.number}`} />;
}

function Warning({ text }: { readonly text: string }): JSX.Element | null {
  const said = warning(text);
  return said === undefined ? null : <p class="warn">{said}</p>;
}

function Rules({ options }: { readonly options: readonly Option[] }): JSX.Element {
  return (
    <>
      {rulesKept(options).map(({ rule, labels }) => (
        <p key={rule} class="dim">
          {labels} <code>{rule}</code>
        </p>
      ))}
    </>
  );
}
