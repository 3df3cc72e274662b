// The link to the daemon: `agent-ls connect` as a language server, typed by the protocol.
//
// Owns starting, the handshake, requests and what a person is told when there is no daemon. Does not own what comes over
// the link: conversations/, approvals/, review/ and locks/ take that. The bridge outlives the daemon, so a link that ends
// here is a bridge that ended.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, ResponseError, RevealOutputChannelOn, type LanguageClientOptions,
} from 'vscode-languageclient/node';

import { find } from './daemon';
import type { LinkState } from './conversations/messages';
import { PROTOCOL, type ClientNotifications, type ErrorData, type Hello, type Notifications, type Requests, type ServerRequests } from './protocol.gen';

export interface Trouble {
  readonly code: string;
  readonly sentence: string;
}

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly trouble: Trouble };
export type WithoutId<P> = Omit<P, 'commandId'>;

type Told<M extends keyof Notifications> = (params: Notifications[M]['params']) => void;
type Asked<M extends keyof ServerRequests> = (params: ServerRequests[M]['params']) => Promise<ServerRequests[M]['result']>;

const MOST_ENDS = 5;
const ENDS_WITHIN_MS = 180_000;
const DOWN: Trouble = { code: 'down', sentence: 'There is no link to the daemon just now; it comes back by itself. Try again in a moment.' };
// An editor that shows the daemon's own text as Markdown or takes its edits is all that the client library has to do.
const SELECTOR = [{ scheme: 'file' }, { scheme: 'untitled' }, { scheme: 'vscode-notebook-cell' }];

export class Link implements vscode.Disposable {
  state: LinkState = 'starting';
  /** Why there is none, as a sentence. */
  sentence: string | undefined;
  hello: Hello | undefined;
  program: string | undefined;
  /** By which this window knows itself among those of a conversation. */
  readonly windowId = randomUUID();
  private client: LanguageClient | undefined;
  private readonly told = new Map<string, ((params: never) => void)[]>();
  private readonly asked = new Map<string, (params: never) => Promise<unknown>>();
  private readonly changed = new vscode.EventEmitter<LinkState>();
  private ends: number[] = [];
  readonly onState = this.changed.event;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly version: string,
  ) {
    this.on('agent/hello', (hello) => this.greeted(hello));
  }

  on<M extends keyof Notifications>(method: M, handler: Told<M>): void {
    this.told.set(method, [...(this.told.get(method) ?? []), handler]);
  }

  /** What the daemon may ask this window. */
  answer<M extends keyof ServerRequests>(method: M, handler: Asked<M>): void {
    this.asked.set(method, handler);
  }

  async start(): Promise<void> {
    const found = await find();
    if (found === undefined) {
      this.program = undefined;
      return this.enter('missing', 'No agent-ls was found. Install it, or name it in the setting agentLs.command.');
    }
    this.program = found.file;
    this.log.info(`agent-ls from ${found.origin}: ${found.file}`);
    this.enter('starting');
    const client = new LanguageClient('agentLs', 'agent-ls', { command: found.file, args: ['connect'] }, this.options());
    this.client = client;
    for (const [method, handlers] of this.told) {
      client.onNotification(method, (params: unknown) => handlers.forEach((handler) => handler(params as never)));
    }
    for (const [method, handler] of this.asked) {
      client.onRequest(method, (params: unknown) => handler(params as never));
    }
    try {
      await client.start();
    } catch (error) {
      this.log.error(`could not start: ${String(error)}`);
      this.enter('down', 'agent-ls could not start. Run “Agent: Show Log of the Daemon”, or `agent-ls doctor` in a terminal.');
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    this.ends = [];
    await this.start();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.hello = undefined;
    if (client !== undefined) {
      await client.dispose(2000).catch((error: unknown) => this.log.warn(`ended late: ${String(error)}`));
    }
  }

  async request<M extends keyof Requests>(method: M, params: Requests[M]['params']): Promise<Answer<Requests[M]['result']>> {
    if (this.client === undefined || this.state === 'missing') {
      return { ok: false, trouble: this.sentence === undefined ? DOWN : { code: 'down', sentence: this.sentence } };
    }
    try {
      return { ok: true, value: await this.client.sendRequest<Requests[M]['result']>(method, params) };
    } catch (error) {
      return { ok: false, trouble: troubleOf(error) };
    }
  }

  /** Something that changes: it gets an id of its own, so that it happens once however often it is sent. */
  command<M extends keyof Requests>(method: M, params: WithoutId<Requests[M]['params']>): Promise<Answer<Requests[M]['result']>> {
    return this.request(method, { ...params, commandId: randomUUID() });
  }

  tell<M extends keyof ClientNotifications>(method: M, params: ClientNotifications[M]['params']): void {
    if (this.state === 'ready') {
      this.client?.sendNotification(method, params).catch(() => undefined);
    }
  }

  dispose(): Promise<void> {
    this.changed.dispose();
    return this.stop();
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: SELECTOR,
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: {
        agentLs: {
          client: 'vscode',
          version: this.version,
          windowId: this.windowId,
          protocol: { min: PROTOCOL, max: PROTOCOL },
          features: ['ui.approval', 'ui.question', 'ui.reveal', 'document.save'],
          prompts: 'none',
          trusted: vscode.workspace.isTrusted,
        },
      },
      initializationFailedHandler: () => false,
      errorHandler: { error: () => ({ action: ErrorAction.Continue, handled: true }), closed: () => this.ended() },
    };
  }

  /** The bridge has ended: killed, or its program was replaced. */
  private ended(): { action: CloseAction; handled: true } {
    const now = performance.now();
    this.ends = [...this.ends.filter((end) => now - end < ENDS_WITHIN_MS), now];
    this.hello = undefined;
    if (this.ends.length > MOST_ENDS) {
      this.enter('down', 'agent-ls ends as soon as it is started. “Agent: Show Log of the Daemon” tells why, “Agent: Restart the Daemon” tries again.');
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    this.enter('starting');
    return { action: CloseAction.Restart, handled: true };
  }

  private greeted(hello: Hello): void {
    if (hello.protocol !== PROTOCOL) {
      return this.enter('down', `This daemon speaks protocol ${hello.protocol}, the extension ${PROTOCOL}; update the older one.`);
    }
    this.hello = hello;
    this.enter('ready');
  }

  private enter(state: LinkState, sentence?: string): void {
    this.state = state;
    this.sentence = sentence;
    this.changed.fire(state);
  }
}

function troubleOf(error: unknown): Trouble {
  if (error instanceof ResponseError) {
    const data = error.data as Partial<ErrorData> | undefined;
    const said = data?.message ?? error.message;
    return { code: data?.code ?? String(error.code), sentence: data?.hint === undefined ? said : `${said} ${data.hint}` };
  }
  return DOWN;
}
