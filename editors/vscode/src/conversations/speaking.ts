// Messages of the person: sent, queued, steered, and the run stopped.
//
// Owns that the first message makes a conversation where there is none. Does not own the input they are written in.

import * as vscode from 'vscode';

import type { Attachments } from './attachments';
import type { Dispatch } from './messages';
import { workspaces } from './summaries';
import { settings } from '../config';
import type { Agent } from '../context';
import type { Block, UpdateQueue } from '../protocol.gen';

export class Speaking {
  constructor(
    private readonly agent: Agent,
    private readonly attachments: Attachments,
  ) {}

  /** Whether the message was taken; `shown`: the conversation that the person saw when they sent it. */
  async send(content: Block[], dispatch: Dispatch, shown?: string): Promise<boolean> {
    const id = shown ?? (await this.conversation());
    if (id === undefined) {
      return false;
    }
    const context = this.attachments.take();
    const message = { conversationId: id, content, dispatch, ...(context.length === 0 ? {} : { context }) };
    const sent = await this.agent.voice.told(this.agent.link.command('agent/message/send', message));
    if (sent === undefined) {
      this.attachments.giveBack(context);
      return false;
    }
    if (dispatch === 'steer' && sent.disposition === 'queued') {
      this.agent.voice.say('It came too late to steer; it waits in the queue.');
    }
    return true;
  }

  async stop(): Promise<void> {
    const runId = this.agent.follow.current?.stoppable;
    if (runId === undefined) {
      this.agent.voice.say('Nothing is running here.');
      return;
    }
    await this.agent.voice.told(this.agent.link.command('agent/run/interrupt', { runId, holdQueue: true }));
  }

  /** Asks the model in trouble now. */
  async hurry(): Promise<void> {
    const run = this.agent.follow.current?.run;
    if (run?.retry === undefined) {
      this.agent.voice.say('Nothing here waits to be tried again.');
      return;
    }
    await this.agent.voice.told(this.agent.link.command('agent/run/hurry', { runId: run.id }));
  }

  /** Asks again what has failed or was stopped. */
  async retry(): Promise<void> {
    const failure = this.agent.follow.current?.failure;
    if (failure === undefined) {
      this.agent.voice.say('Nothing here has failed just now.');
      return;
    }
    await this.agent.voice.told(this.agent.link.command('agent/run/retry', { runId: failure.runId }));
  }

  async queue(change: Omit<UpdateQueue, 'commandId' | 'conversationId'>): Promise<void> {
    const id = this.agent.follow.id;
    if (id !== undefined) {
      await this.agent.voice.told(this.agent.link.command('agent/queue/update', { conversationId: id, ...change }));
    }
  }

  /** A conversation in the workspace of the active editor, made now. */
  async begin(): Promise<string | undefined> {
    const workspace = workspaces()[0];
    if (workspace === undefined) {
      this.agent.voice.trouble({ code: 'outside_workspace', sentence: 'The agent works in a folder; open one first.' });
      return undefined;
    }
    const { model, mode } = settings();
    const wanted = { workspace, ...(model === '' ? {} : { model }), ...(mode === '' ? {} : { mode }) };
    const made = await this.agent.voice.told(this.agent.link.command('agent/conversation/create', wanted));
    const attached = made && (await this.agent.follow.attach(made.conversation.id));
    return attached?.ok === true ? made?.conversation.id : undefined;
  }

  private async conversation(): Promise<string | undefined> {
    return this.agent.follow.id ?? (await this.begin());
  }
}

/** `@` in the input: files of the workspace whose path holds these letters. */
export async function files(letters: string): Promise<{ label: string; detail: string; uri: string }[]> {
  const safe = letters.replace(/[\\*?[\]{}!]/g, '');
  const pattern = safe === '' ? '**/*' : `**/*${safe.replace(/[a-z]/gi, (char) => `[${char.toLowerCase()}${char.toUpperCase()}]`)}*`;
  const found = await vscode.workspace.findFiles(pattern, '**/{node_modules,.git,.venv,__pycache__,dist,build}/**', 60);
  return found
    .map((uri) => ({ detail: vscode.workspace.asRelativePath(uri), uri: uri.toString() }))
    .sort((one, other) => one.detail.length - other.detail.length || one.detail.localeCompare(other.detail))
    .slice(0, 20)
    .map(({ detail, uri }) => ({ label: detail.slice(detail.lastIndexOf('/') + 1), detail, uri }));
}
