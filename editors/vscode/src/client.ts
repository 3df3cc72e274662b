// The link to the daemon: `agent-ls connect` as a language server, typed by the protocol.
//
// Owns starting, the handshake, requests and what a person is told when there is no daemon. Does not own what comes over
// the link: conversations/, approvals/, review/ and locks/ take that. The bridge outlives the daemon, so a link that ends
// here is a bridge that ended.

import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, MessageType, ResponseError, RevealOutputChannelOn, type LanguageClientOptions, type ShowMessageParams,
} from 'vscode-languageclient/node';

import { settings } from './config';
import { oneLine } from './core/display';
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
const STOP_MS = 2_000;
const LOOK_EVERY_MS = 2_000;
const LOOK_FOR_MS = 900_000;
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
  private readonly heard = new vscode.EventEmitter<string>();
  private bridge: ChildProcess | undefined;
  private turn: Promise<void> = Promise.resolve();
  private looking: NodeJS.Timeout | undefined;
  private ends: number[] = [];
  readonly onState = this.changed.event;
  /** What daemon and bridge say to a person. */
  readonly onSaid = this.heard.event;

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

  /** One after another: what asks for another link at the same moment does not make two. */
  start(): Promise<void> {
    this.turn = this.turn.then(() => this.begin()).catch((error: unknown) => this.log.error(`could not start: ${String(error)}`));
    return this.turn;
  }

  /** Looks again from time to time, until it is there or nobody waits for it any more. */
  lookFor(): void {
    clearInterval(this.looking);
    const until = performance.now() + LOOK_FOR_MS;
    this.looking = setInterval(() => void this.look(until), LOOK_EVERY_MS);
  }

  /** Where there was none: whether there is one now. */
  async look(until = Infinity): Promise<void> {
    if (this.state !== 'missing' || performance.now() > until) {
      clearInterval(this.looking);
    } else if ((await find()) !== undefined && this.state === 'missing') {
      clearInterval(this.looking);
      this.enter('starting');
      await this.start();
    }
  }

  async restart(): Promise<void> {
    this.ends = [];
    this.turn = this.turn.then(() => this.stop());
    await this.start();
  }

  async stop(): Promise<void> {
    const { client, bridge } = this;
    this.client = undefined;
    this.bridge = undefined;
    this.hello = undefined;
    // One that has not begun yet cannot be asked to end.
    await client?.dispose(STOP_MS).catch((error: unknown) => this.log.info(`ended late: ${String(error)}`));
    bridge?.kill();
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
    clearInterval(this.looking);
    this.changed.dispose();
    this.heard.dispose();
    return this.stop();
  }

  private async begin(): Promise<void> {
    const found = await find();
    if (found === undefined) {
      this.program = undefined;
      return this.enter('missing', missing(settings().command));
    }
    this.program = found.file;
    this.log.info(`agent-ls from ${found.origin}: ${found.file}`);
    this.enter('starting');
    const client = new QuietClient('agentLs', 'agent-ls', () => this.spawned(found.file), this.options());
    this.client = client;
    for (const [method, handlers] of this.told) {
      client.onNotification(method, (params: unknown) => handlers.forEach((handler) => handler(params as never)));
    }
    // The library would show it as a message in which links are live; it is text of others.
    client.onNotification('window/showMessage', (said: ShowMessageParams) => this.hear(said));
    for (const [method, handler] of this.asked) {
      client.onRequest(method, (params: unknown) => handler(params as never));
    }
    client.start().catch((error: unknown) => this.failed(client, error));
  }

  /** An error is the bridge's: it has no daemon, and says why. The next greeting says that there is one again. */
  private hear({ type, message }: ShowMessageParams): void {
    if (type === MessageType.Error) {
      this.hello = undefined;
      this.enter('down', message);
    }
    this.heard.fire(message);
  }

  private failed(client: LanguageClient, error: unknown): void {
    this.log.error(`could not start: ${String(error)}`);
    if (client === this.client && this.state !== 'ready') {
      this.enter('down', 'agent-ls could not start. Run “Agent: Show Log of the Daemon”, or `agent-ls doctor` in a terminal.');
    }
  }

  /** Not in the workspace's folder: nothing of it may have a say in what is started. */
  private spawned(file: string): Promise<ChildProcess> {
    const bridge = spawn(file, ['connect'], { cwd: homedir(), stdio: 'pipe' });
    bridge.on('error', (error) => this.log.error(`could not run ${file}: ${error.message}`));
    this.bridge = bridge;
    return Promise.resolve(bridge);
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
          features: ['ui.approval', 'ui.question', 'ui.reveal', 'document.save', 'diagnostics', 'lsp.proxy'],
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

/** The library shows its troubles in messages with buttons; here they go into the log, and the status bar says what to do. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }

  override info(message: string, data?: unknown): void {
    super.info(message, data, false);
  }
}

function missing(chosen: string): string {
  return chosen === ''
    ? 'No agent-ls was found. Install it, or name it in the setting agentLs.command.'
    : `The setting agentLs.command names “${oneLine(chosen, 120)}”, and that is no program that can be run. Correct it, or leave it empty.`;
}

function troubleOf(error: unknown): Trouble {
  if (error instanceof ResponseError) {
    const data = error.data as Partial<ErrorData> | undefined;
    const said = data?.message ?? error.message;
    return { code: data?.code ?? String(error.code), sentence: data?.hint === undefined ? said : `${said} ${data.hint}` };
  }
  return DOWN;
}
