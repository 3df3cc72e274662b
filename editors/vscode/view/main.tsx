// The chat's page: header, transcript, steps, queue, input.
//
// Owns which rows there are. Everything it shows comes from the extension (store.ts); everything it wants is asked of it.

import { Component, createRef, render, type ComponentChild, type JSX } from 'preact';

import { Chords } from './chords';
import { Composer } from './composer';
import { tell } from './host';
import { FlightView, ItemView, Line, Todo } from './items';
import { List } from './list';
import { Queue } from './queue';
import { RequestCard } from './request';
import { Store } from './store';
import type { ToPage } from '../src/conversations/messages';
import type { Conversation } from '../src/core/conversation';
import { STATUS_WORDS, cost, tokens } from '../src/core/labels';
import { oneLine, word } from '../src/core/display';
import type { Item, Request, TodoList } from '../src/protocol.gen';

interface Row {
  readonly key: string;
  readonly guess: number;
  readonly draw: () => ComponentChild;
}

/** Shown elsewhere, or of no interest to a person. */
const HIDDEN = new Set(['checkpoint', 'approval']);
const QUIET_TOOLS = new Set(['todo', 'ask', 'plan', 'task']);
const GUESSES: Record<string, number> = { user_message: 60, assistant_message: 110, reasoning: 30, tool_call: 32, command: 32, file_change: 140 };

class App extends Component {
  private readonly list = createRef<List>();
  private readonly store = new Store(() => this.forceUpdate());

  override componentDidMount(): void {
    window.addEventListener('message', (event: MessageEvent<ToPage>) => this.store.hear(event.data));
    const chords = new Chords();
    window.addEventListener('keydown', (event) => chords.ends(event) && event.preventDefault(), { capture: true });
    tell({ type: 'ready' });
  }

  override render(): ComponentChild {
    const { store } = this;
    const { conversation } = store;
    const rows = conversation === undefined ? [] : rowsOf(conversation);
    return (
      <main class="chat">
        <Header store={store} />
        {rows.length === 0 ? (
          <Empty store={store} />
        ) : (
          <List ref={this.list} of={conversation?.id ?? ''} keys={rows.map((row) => row.key)} guess={(at) => rows[at]?.guess ?? 40} row={(at) => rows[at]?.draw()} label="Transcript" />
        )}
        {rows.length > 0 && store.link.state !== 'ready' && (
          <section class="unlinked">
            <Unlinked store={store} />
          </section>
        )}
        <div class="said-line" role="status">
          {store.said}
        </div>
        <div class="spoken" aria-live="polite">
          {store.spoken}
        </div>
        <Steps conversation={conversation} />
        <Queue runs={conversation?.queue ?? []} held={conversation?.about.queueHeld === true} running={conversation?.run !== undefined} />
        <Composer store={store} sent={() => this.list.current?.toEnd()} />
      </main>
    );
  }
}

function rowsOf(conversation: Conversation): Row[] {
  const asked = new Map<string, Request>();
  conversation.requests.forEach((request) => asked.set(request.itemId, request));
  const failure = conversation.failure?.id;
  const rows = conversation.items.filter((item) => shown(item)).map((item) => rowOf(item, asked.get(item.id), { conversation, failure }));
  for (const flight of conversation.flights.values()) {
    if (conversation.item(flight.itemId) === undefined) {
      rows.push({ key: flight.itemId, guess: 60, draw: () => <FlightView text={flight.text} phase={flight.phase} /> });
    }
  }
  // A request whose item is not drawn is drawn by itself: nothing that waits may be invisible.
  for (const request of conversation.pending) {
    const item = conversation.item(request.itemId);
    if (item === undefined || !shown(item)) {
      rows.push({ key: request.id, guess: 160, draw: () => <RequestCard request={request} /> });
    }
  }
  const idle = conversation.run !== undefined && conversation.flights.size === 0 && conversation.pending.length === 0;
  if (idle && !conversation.items.some(({ status, runId }) => status === 'running' && runId === conversation.run?.id)) {
    rows.push({ key: 'at work', guess: 30, draw: () => <Line icon="loading codicon-modifier-spin">At work</Line> });
  }
  return rows;
}

function rowOf(item: Item, request: Request | undefined, { conversation, failure }: { conversation: Conversation; failure: string | undefined }): Row {
  const output = conversation.flights.get(item.id)?.output ?? '';
  const again = item.id === failure;
  return { key: item.id, guess: GUESSES[item.kind] ?? 40, draw: () => <ItemView item={item} request={request} output={output} again={again} /> };
}

function shown(item: Item): boolean {
  const tool = 'tool' in item.payload ? item.payload.tool : '';
  return !HIDDEN.has(item.kind) && !(item.kind === 'tool_call' && QUIET_TOOLS.has(tool) && item.status !== 'failed');
}

function Header({ store }: { readonly store: Store }): JSX.Element {
  const { conversation, usage } = store;
  const status = conversation?.status;
  const filled = usage?.windowTokens === undefined || usage.windowTokens === 0 ? undefined : Math.round((100 * usage.usedTokens) / usage.windowTokens);
  const used = usage === undefined || usage.usedTokens === 0 ? '' : [`${tokens(usage.usedTokens)} tokens`, filled === undefined ? '' : `${filled} %`, cost(usage.costUsd)].filter((part) => part !== '').join(' · ');
  return (
    <header>
      <button class="title" title="Open another conversation" onClick={() => tell({ type: 'command', name: 'open', argument: '' })}>
        {oneLine(conversation?.about.title || 'New conversation', 80)}
      </button>
      <span class={`status ${status ?? ''}`}>{status === undefined || status === 'idle' ? '' : STATUS_WORDS[status]}</span>
      {used !== '' && (
        <span class="dim usage" title={usage === undefined ? '' : `${usage.inputTokens.toLocaleString('en')} tokens in, ${usage.outputTokens.toLocaleString('en')} out, ${usage.cacheReadTokens.toLocaleString('en')} from the cache`}>
          {used}
        </span>
      )}
      {store.servers.map(({ name, state, tools }) => (
        <span key={name} class={`server ${state === 'up' ? '' : 'not-up'}`} title={`MCP server ${oneLine(name, 40)}: ${oneLine(state, 200)}, ${tools === 1 ? '1 tool' : `${tools} tools`}`}>
          <span class="codicon codicon-plug" aria-hidden="true" /> {oneLine(name, 30)}
        </span>
      ))}
      {store.windows.length > 0 && (
        <span class="server" title={`Also shown in ${store.windows.map(({ client }) => oneLine(client, 40)).join(', ')}`}>
          <span class="codicon codicon-multiple-windows" aria-hidden="true" /> also in {oneLine([...new Set(store.windows.map(({ client }) => client))].join(', '), 60)}
        </span>
      )}
      {!store.link.trusted && <p class="warn">This workspace is not trusted: the agent only reads.</p>}
    </header>
  );
}

/** The steps of the run that goes on, always in sight. */
function Steps({ conversation }: { readonly conversation: Conversation | undefined }): JSX.Element | null {
  const run = conversation?.run?.id;
  const item = run === undefined ? undefined : conversation?.items.findLast((one) => one.kind === 'todo_list' && one.runId === run && one.status === 'running');
  if (item === undefined) {
    return null;
  }
  const { steps } = item.payload as TodoList;
  const done = steps.filter((step) => step['status'] === 'done').length;
  const active = steps.find((step) => step['status'] === 'active');
  return (
    <details class="steps">
      <summary>
        {done} of {steps.length} steps{active === undefined ? '' : `: ${oneLine(word(active['text']), 80)}`}
      </summary>
      <Todo steps={steps} />
    </details>
  );
}

function Empty({ store }: { readonly store: Store }): JSX.Element {
  const { state, folder } = store.link;
  return (
    <div class="empty">
      {state === 'ready' && !folder ? (
        <>
          <h2>Open a folder first</h2>
          <p class="dim">The agent works in a folder: it reads there, and asks before it changes something.</p>
          <button class="primary" onClick={() => tell({ type: 'command', name: 'folder', argument: '' })}>
            Open folder
          </button>
        </>
      ) : state === 'ready' ? (
        <>
          <h2>What shall be done?</h2>
          <p class="dim">
            <kbd>@</kbd> names a file, <kbd>/</kbd> a command. What changes something asks you first. Everything goes on when you close this window.
          </p>
        </>
      ) : (
        <Unlinked store={store} />
      )}
    </div>
  );
}

/** Why nothing can be asked just now, and the way out. */
function Unlinked({ store }: { readonly store: Store }): JSX.Element {
  const { state, sentence } = store.link;
  const run = (name: string): void => tell({ type: 'command', name, argument: '' });
  if (state === 'starting') {
    return <p class="dim">Connecting to the daemon…</p>;
  }
  return (
    <>
      <h2>{state === 'missing' ? 'agent-ls was not found' : 'There is no daemon'}</h2>
      <p class="dim">{sentence}</p>
      <div class="answers">
        <button class="primary" onClick={() => run(state === 'missing' ? 'install' : 'restart')}>
          {state === 'missing' ? 'Install agent-ls' : 'Try again'}
        </button>
        <button onClick={() => run(state === 'missing' ? 'settings' : 'log')}>{state === 'missing' ? 'Choose the program' : 'Show the log'}</button>
      </div>
    </>
  );
}

const root = document.getElementById('root');
if (root !== null) {
  render(<App />, root);
}
