// Items of the transcript, one component a kind.
//
// Owns how a message, a call, a plan, a list of steps looks. Everything in it is text of others and stays text.

import type { ComponentChild, JSX } from 'preact';

import { tell } from './host';
import { Countdown } from './countdown';
import { Markdown } from './markdown';
import { memo } from './memo';
import { RequestCard } from './request';
import { Diff, Output, Words } from './text';
import type { Flight } from '../src/core/conversation';
import { callTitle, contextTitle, cost, fileName, outcome } from '../src/core/labels';
import { escaped, oneLine, prose, word } from '../src/core/display';
import type { AssistantMessage, Call, Interruption, Item, Notice, Plan, Question, Reasoning, Request, Subagent, TodoList, UserMessage } from '../src/protocol.gen';

const ICONS: Record<string, string> = { pending: 'circle-outline', running: 'loading codicon-modifier-spin', completed: 'check', failed: 'error', cancelled: 'circle-slash', interrupted: 'debug-stop' };
const STATES: Record<string, string> = { pending: 'waiting', running: 'running', completed: 'done', failed: 'failed', cancelled: 'not done', interrupted: 'stopped' };

interface Props {
  readonly item: Item;
  readonly request: Request | undefined;
  /** Whether its run can be asked again from here. */
  readonly again: boolean;
  /** Output so far, while it runs. */
  readonly output: string;
}

export const ItemView = memo(({ item, request, again, output }: Props): JSX.Element => {
  const { payload } = item;
  switch (item.kind) {
    case 'user_message':
      return <User payload={payload as UserMessage} />;
    case 'assistant_message':
      return <Said payload={payload as AssistantMessage} />;
    case 'reasoning':
      return <Thoughts text={(payload as Reasoning).text} open={false} />;
    case 'tool_call':
    case 'command':
    case 'file_change':
      return <CallView item={item} call={payload as Call} request={request} output={output} again={again} />;
    case 'todo_list':
      return <Todo steps={(payload as TodoList).steps} />;
    case 'question':
      return <QuestionView item={item} payload={payload as Question} request={request} />;
    case 'plan':
      return <PlanView item={item} payload={payload as Plan} request={request} />;
    case 'subagent':
      return <SubagentView item={item} payload={payload as Subagent} />;
    case 'notice':
    case 'error':
      return <NoticeView item={item} payload={payload as Notice} again={again} />;
    case 'interrupt':
      return (
        <Line icon="debug-stop">
          Stopped by {oneLine((payload as Interruption).by, 40)}
          {from(payload as Interruption)}. {again && <Again runId={item.runId} />}
        </Line>
      );
    default:
      return <Other item={item} />;
  }
});

function from(payload: Interruption): string {
  return payload.from === undefined ? '' : ` in ${oneLine(payload.from, 40)}`;
}

function User({ payload }: { readonly payload: UserMessage }): JSX.Element {
  return (
    <article class="user" aria-label="You">
      {payload.content.map((block, at) => {
        switch (block.type) {
          case 'text':
            return <Words key={at} text={block.text ?? ''} title="message" />;
          case 'image':
            return <Picture key={at} mimeType={block.mimeType ?? ''} data={block.data ?? ''} />;
          default:
            return <FileLink key={at} uri={block.uri ?? ''} />;
        }
      })}
      {(payload.context ?? []).length > 0 && <p class="dim">with {(payload.context ?? []).map((one) => contextTitle(one)).join(', ')}</p>}
    </article>
  );
}

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function Picture({ mimeType, data }: { readonly mimeType: string; readonly data: string }): JSX.Element {
  return PICTURES.has(mimeType) && /^[A-Za-z0-9+/=]*$/.test(data) ? <img class="image" src={`data:${mimeType};base64,${data}`} alt="A picture of yours" /> : <span class="picture">[picture]</span>;
}

function FileLink({ uri }: { readonly uri: string }): JSX.Element {
  return (
    <button class="link" title={oneLine(uri, 400)} onClick={() => tell({ type: 'file', uri })}>
      @{fileName(uri)}
    </button>
  );
}

function Said({ payload }: { readonly payload: AssistantMessage }): JSX.Element {
  const { full } = payload;
  return (
    <article class="said" aria-label="The agent">
      <Markdown text={payload.text} title="answer.md" />
      {full !== undefined && (
        <button class="link" onClick={() => tell({ type: 'blob', digest: full, title: 'answer.md' })}>
          Open all of it
        </button>
      )}
    </article>
  );
}

function Thoughts({ text, open }: { readonly text: string; readonly open: boolean }): JSX.Element {
  return (
    <details class="thoughts" open={open}>
      <summary>{open ? 'Thinking' : 'Thoughts'}</summary>
      <p class="plain dim">{escaped(prose(text.slice(-20_000)))}</p>
    </details>
  );
}

interface CallProps extends Props {
  readonly call: Call;
}

function CallView({ item, call, request, output }: CallProps): JSX.Element {
  const asked = request?.status === 'pending' ? request : undefined;
  const said = call.result?.output ?? output;
  const shownDiff = call.diff !== undefined && call.diff !== '' && (call.result === undefined || call.result.status === 'ok') && asked === undefined;
  const running = item.status === 'running' || (call.state === 'started' && call.result === undefined);
  const title = callTitle(call);
  const uri = call.uri;
  return (
    <article class={`call ${item.status}`} aria-label={`${title}, ${STATES[item.status] ?? item.status}`}>
      <details open={running || shownDiff}>
        <summary>
          <span class={`codicon codicon-${ICONS[item.status] ?? 'circle-outline'} state`} title={STATES[item.status] ?? item.status} aria-hidden="true" />
          <span class="call-title">{title}</span>
          <span class="dim">{outcome(call).join(' · ')}</span>
          {uri !== undefined && <button class="icon codicon codicon-go-to-file" aria-label="Open the file" title="Open the file" onClick={(event) => (event.preventDefault(), tell({ type: 'file', uri }))} />}
          {running && <button class="icon codicon codicon-debug-stop" aria-label={`Stop ${title}`} title="Stop this call alone" onClick={(event) => (event.preventDefault(), tell({ type: 'stopItem', runId: item.runId, itemId: item.id }))} />}
        </summary>
        {typeof call.input['command'] === 'string' && (title.length > 80 || call.input['command'].includes('\n')) && <Output text={call.input['command']} title="command" />}
        {shownDiff ? <Diff text={call.diff ?? ''} /> : said !== '' && <Output text={said} title={title} tail={item.kind === 'command' || running} blob={call.result?.blob ?? call.result?.full} />}
      </details>
      {asked !== undefined && <RequestCard request={asked} />}
    </article>
  );
}

const STEP_ICONS: Record<string, string> = { pending: 'circle-large-outline', active: 'arrow-circle-right', done: 'pass' };

export function Todo({ steps }: { readonly steps: TodoList['steps'] }): JSX.Element {
  return (
    <ul class="todo" aria-label="Steps">
      {steps.map((step, at) => {
        const status = word(step['status'], 'pending');
        return (
          <li key={at} class={status}>
            <span class={`codicon codicon-${STEP_ICONS[status] ?? 'circle-large-outline'}`} role="img" aria-label={status} /> {oneLine(word(step['text']), 300)}
          </li>
        );
      })}
    </ul>
  );
}

function QuestionView({ item, payload, request }: { readonly item: Item; readonly payload: Question; readonly request: Request | undefined }): JSX.Element {
  if (request?.status === 'pending') {
    return <RequestCard request={request} />;
  }
  const answers = (payload.answers ?? {}) as Record<string, unknown>;
  return (
    <article class="call" aria-label="A question">
      {payload.questions.map((question, at) => {
        const labels = new Map(((question['options'] ?? []) as { id: string; label: string }[]).map(({ id, label }) => [id, label]));
        const given = answers[word(question['id'])];
        const said = (Array.isArray(given) ? given : given === undefined ? [] : [given]).map((one) => labels.get(String(one)) ?? String(one));
        return (
          <div key={at}>
            <p class="plain">{escaped(word(question['text']))}</p>
            <p class="dim">{said.length > 0 ? `→ ${oneLine(said.join(', '), 400)}` : (STATES[item.status] ?? item.status)}</p>
          </div>
        );
      })}
    </article>
  );
}

function PlanView({ item, payload, request }: { readonly item: Item; readonly payload: Plan; readonly request: Request | undefined }): JSX.Element {
  if (request?.status === 'pending') {
    return <RequestCard request={request} />;
  }
  return (
    <details class="plan" open={item.status === 'running' || item.status === 'pending'}>
      <summary>Plan, {payload.state}</summary>
      <Markdown text={payload.markdown} title="plan.md" />
    </details>
  );
}

function NoticeView({ item, payload, again }: { readonly item: Item; readonly payload: Notice; readonly again: boolean }): JSX.Element {
  const waits = payload.until !== undefined && item.status === 'running';
  return (
    <Line icon={waits ? 'history' : item.kind === 'error' ? 'error' : 'info'} kind={item.kind}>
      {escaped(prose(payload.message))} {payload.hint !== undefined && escaped(payload.hint)}
      {waits && <Countdown since={item.createdAt} until={payload.until ?? ''} runId={item.runId} />} {again && <Again runId={item.runId} />}
    </Line>
  );
}

function Again({ runId }: { readonly runId: string }): JSX.Element {
  return (
    <button class="link" onClick={() => tell({ type: 'retry', runId })}>
      Try again
    </button>
  );
}

export function Line({ icon, kind = 'notice', children }: { readonly icon: string; readonly kind?: string; readonly children: ComponentChild }): JSX.Element {
  return (
    <p class={kind}>
      <span class={`codicon codicon-${icon}`} aria-hidden="true" /> {children}
    </p>
  );
}

function SubagentView({ item, payload }: { readonly item: Item; readonly payload: Subagent }): JSX.Element {
  const waiting = payload.requests ?? [];
  const used = payload.usage?.costUsd;
  return (
    <article class={`call ${item.status}`} aria-label={`Subagent: ${oneLine(payload.task)}, ${STATES[item.status] ?? item.status}`}>
      <details open={item.status === 'running'}>
        <summary>
          <span class={`codicon codicon-${ICONS[item.status] ?? 'circle-outline'} state`} aria-hidden="true" />
          <span class="call-title">subagent {oneLine(payload.task, 100)}</span>
          <span class="dim">{[oneLine(payload.agent ?? '', 40), used === undefined ? '' : cost(used)].filter((part) => part !== '').join(' · ')}</span>
          <button class="link" onClick={(event) => (event.preventDefault(), tell({ type: 'open', conversationId: payload.conversationId }))}>
            Open
          </button>
          {item.status === 'running' && (
            <button class="icon codicon codicon-debug-stop" aria-label="Stop the subagent" title="Stop this subagent alone" onClick={(event) => (event.preventDefault(), tell({ type: 'stopItem', runId: item.runId, itemId: item.parentId ?? item.id }))} />
          )}
        </summary>
        {(payload.steps ?? []).length > 0 && <Todo steps={payload.steps ?? []} />}
        {payload.result !== undefined && payload.result !== '' && <Markdown text={payload.result} title="result.md" />}
      </details>
      {waiting.length > 0 && <Line icon="bell-dot">It waits for you: {waiting.map((number) => `#${number}`).join(', ')} in Approvals.</Line>}
    </article>
  );
}

/** Kinds whose payload says more than this version knows: compactions, handoffs. */
function Other({ item }: { readonly item: Item }): JSX.Element {
  const payload = item.payload as unknown as Record<string, unknown>;
  const merged = payload['strategy'] === 'merge_back';
  const child = payload['conversationId'] ?? (merged ? payload['from'] : undefined);
  const text = [payload['task'], payload['description'], payload['summary'], payload['result'], payload['text']].find((one) => typeof one === 'string' && one !== '');
  return (
    <article class={`call ${item.status}`}>
      <details>
        <summary>
          <span class={`codicon codicon-${ICONS[item.status] ?? 'circle-outline'} state`} aria-hidden="true" />
          <span class="call-title">
            {merged ? 'Merged back from a fork' : item.kind.replaceAll('_', ' ')} {oneLine(word(payload['task'] ?? payload['description']), 100)}
          </span>
          <span class="dim">{STATES[item.status] ?? item.status}</span>
          {typeof child === 'string' && (
            <button class="link" onClick={(event) => (event.preventDefault(), tell({ type: 'open', conversationId: child }))}>
              Open
            </button>
          )}
        </summary>
        {text !== undefined && <Markdown text={word(text)} title={`${item.kind}.md`} />}
      </details>
    </article>
  );
}

const PHASES: Record<string, string> = { thinking: 'Thinking', answering: 'Answering', tool: 'Preparing a call', retrying: 'Trying again', compacting: 'Making room', waiting: 'Waiting' };

/** Text in flight, of an item that is not committed yet. `text` is a property, so that a new word is a new drawing. */
export const FlightView = memo(({ text, phase }: { readonly text: string; readonly phase: Flight['phase'] }): JSX.Element => {
  if (phase === 'thinking') {
    return <Thoughts text={text} open />;
  }
  if (phase === 'answering') {
    return (
      <article class="said in-flight" aria-label="The agent, still writing">
        <Markdown text={text} title="answer.md" />
      </article>
    );
  }
  return (
    <Line icon="loading codicon-modifier-spin">
      {PHASES[phase] ?? phase} {phase === 'tool' ? '' : oneLine(text, 200)}
    </Line>
  );
});
