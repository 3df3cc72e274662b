// "Edit, then allow": the proposed text in an editor of its own, beside what is there now; its Allow sends it.
//
// Owns these texts, which live in memory only, so saving one decides nothing and closing one decides nothing. Does not own
// how the edited text becomes an input (core/edits.ts).

import * as vscode from 'vscode';

import { change, heading, isNotebook, paperName } from './card';
import type { Agent } from '../context';
import { draftOf, type Draft } from '../core/edits';
import type { Held } from '../core/requests';

export const SCHEME = 'agentls-edit';
const NAMES: Record<Draft['kind'], string> = { command: 'command.sh', file: 'file', plan: 'plan.md', patch: 'change.patch', json: 'input.json' };

interface Desk {
  readonly requestId: string;
  readonly digest: string;
  readonly draft: Draft;
  content: Uint8Array;
  time: number;
}

export class Editing implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly desks = new Map<string, Desk>();
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly agent: Agent) {
    this.subscriptions = [
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      agent.onRequests(() => void this.clear()),
    ];
  }

  async begin(held: Held): Promise<void> {
    const { request } = held;
    const changed = change(request);
    const before = changed === undefined ? undefined : await textOf(changed.uri);
    const draft = draftOf(request, before);
    const name = changed === undefined || draft.kind !== 'file' ? NAMES[draft.kind] : paperName(changed.uri);
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${request.number}/${name}` });
    const content = new TextEncoder().encode(draft.text);
    this.desks.set(uri.toString(), { requestId: request.id, digest: request.digest, draft, content, time: Date.now() });
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    if (draft.kind === 'file' && changed !== undefined && before !== undefined && !isNotebook(changed.uri)) {
      await vscode.commands.executeCommand('vscode.diff', changed.uri, uri, `#${request.number} ${heading(request)}: edit, then allow`);
    } else {
      await vscode.window.showTextDocument(uri, { preview: false });
    }
    this.agent.voice.say('Change it, then press “Allow as Edited” in its title, or the key for Allow Once. Closing it decides nothing.');
  }

  /** Of the editor that the person is in. */
  async allow(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const desk = document?.uri.scheme === SCHEME ? this.desks.get(document.uri.toString()) : undefined;
    const held = desk === undefined ? undefined : this.agent.book.get(desk.requestId);
    if (document === undefined || desk === undefined || held === undefined) {
      this.agent.voice.say('That request no longer waits.');
      return;
    }
    const input = desk.draft.input(document.getText());
    if ('trouble' in input && typeof input.trouble === 'string') {
      this.agent.voice.trouble({ code: 'invalid_params', sentence: input.trouble });
      return;
    }
    const scope = held.request.kind === 'approval' ? ({ scope: 'once' } as const) : {};
    await this.agent.answers.give(held, { decision: 'allow', ...scope, input: input as Record<string, unknown> }, { digest: desk.digest, shown: true });
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const desk = this.at(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: desk.time, size: desk.content.byteLength };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.at(uri).content;
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    const desk = this.at(uri);
    desk.content = content;
    desk.time = Date.now();
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  /** A text whose request is settled is of no use; its editor goes, and its text with it. */
  private async clear(): Promise<void> {
    for (const [name, desk] of this.desks) {
      if (this.agent.book.get(desk.requestId)?.request.digest !== desk.digest) {
        await this.close(name);
        this.desks.delete(name);
      }
    }
  }

  private async close(name: string): Promise<void> {
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === name);
    // A dirty editor would ask whether to save what nobody needs any more.
    await open?.save();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const ours = tabs.filter(({ input }) => {
      const uri = input instanceof vscode.TabInputText ? input.uri : input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
      return uri?.toString() === name;
    });
    await vscode.window.tabGroups.close(ours, true);
  }

  private at(uri: vscode.Uri): Desk {
    const desk = this.desks.get(uri.toString());
    if (desk === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return desk;
  }
}

/** Of the open document, or of the disk; undefined where there is no such file. */
export async function textOf(uri: vscode.Uri): Promise<string | undefined> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open !== undefined) {
    return open.getText();
  }
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}
