// Reviewing changes: the multi-diff editor, the lenses at each hunk, and the commands that keep or undo.
//
// Owns which hunk a key means. Does not own what may be undone (the daemon, which looks at the file again).

import * as vscode from 'vscode';

import type { ChangeNode } from './tree';
import { textOf } from '../approvals/editing';
import { settings } from '../config';
import type { Agent } from '../context';
import { before, hunkAt, linesOf, open, weight } from '../core/review';
import type { FileReview, ReviewHunk } from '../protocol.gen';

interface Meant {
  readonly file: FileReview;
  readonly hunk?: ReviewHunk;
}

export class Review implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly agent: Agent) {
    const on = (name: string, work: (given?: unknown) => unknown): vscode.Disposable => vscode.commands.registerCommand(`agentLs.review.${name}`, work);
    this.subscriptions = [
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      agent.changes.onChange(() => this.changed.fire()),
      on('open', () => this.open()),
      on('nextHunk', () => this.go(1)),
      on('previousHunk', () => this.go(-1)),
      on('keepHunk', (given) => this.decide('keep', this.hunk(given))),
      on('undoHunk', (given) => this.decide('undo', this.hunk(given))),
      on('keepFile', (given) => this.decide('keep', this.file(given))),
      on('undoFile', (given) => this.decide('undo', this.file(given))),
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const file = settings().reviewLenses ? this.agent.changes.of(document.uri) : undefined;
    return (file === undefined ? [] : open(file)).flatMap((hunk) => {
      const line = Math.min(linesOf(hunk).first, document.lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      const given = { file, hunk };
      return [
        new vscode.CodeLens(range, { title: '$(check) Keep', tooltip: 'Keep this change of the agent', command: 'agentLs.review.keepHunk', arguments: [given] }),
        new vscode.CodeLens(range, { title: '$(discard) Undo', tooltip: 'Undo this change of the agent', command: 'agentLs.review.undoHunk', arguments: [given] }),
        new vscode.CodeLens(range, { title: `${weight(hunk)} by the agent`, command: '' }),
      ];
    });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }

  /** All files side by side, as they were before what nobody has reviewed yet, and as they are. */
  private async open(): Promise<void> {
    await this.agent.changes.load();
    const rows: [vscode.Uri, vscode.Uri, vscode.Uri | undefined][] = [];
    for (const file of this.agent.changes.files()) {
      const uri = vscode.Uri.parse(file.uri);
      const now = await textOf(uri);
      rows.push([uri, this.agent.papers.put(uri.path.slice(1), before(now ?? '', file)), now === undefined ? undefined : uri]);
    }
    if (rows.length === 0) {
      return this.agent.voice.say(this.agent.changes.sentence ?? 'No change of the agent waits for your review.');
    }
    await vscode.commands.executeCommand('vscode.changes', 'Changes of the agent', rows);
  }

  private async go(step: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const file = (editor && this.agent.changes.of(editor.document.uri)) ?? this.agent.changes.files()[0];
    if (file === undefined) {
      return this.agent.voice.say('No change of the agent waits for your review.');
    }
    const hunk = hunkAt(file, editor?.selection.active.line ?? -1, step);
    const at = new vscode.Position(hunk === undefined ? 0 : linesOf(hunk).first, 0);
    await vscode.window.showTextDocument(vscode.Uri.parse(file.uri), { selection: new vscode.Range(at, at) });
  }

  private async decide(verb: 'keep' | 'undo', meant: Meant | undefined): Promise<void> {
    if (meant === undefined) {
      return this.agent.voice.say(this.agent.changes.sentence ?? 'There is no change of the agent here.');
    }
    const said = await this.agent.changes.decide(verb, meant.file, meant.hunk);
    if (typeof said === 'string') {
      this.agent.voice.say(said);
    } else if (said !== undefined) {
      this.agent.voice.trouble(said);
    }
  }

  private hunk(given: unknown): Meant | undefined {
    if (isNode(given)) {
      return given.hunk === undefined ? undefined : given;
    }
    const editor = vscode.window.activeTextEditor;
    const file = editor && this.agent.changes.of(editor.document.uri);
    const hunk = file && hunkAt(file, editor.selection.active.line);
    return file && hunk && { file, hunk };
  }

  private file(given: unknown): Meant | undefined {
    if (isNode(given)) {
      return { file: given.file };
    }
    const editor = vscode.window.activeTextEditor;
    const file = editor && this.agent.changes.of(editor.document.uri);
    return file && { file };
  }
}

function isNode(given: unknown): given is ChangeNode {
  return typeof given === 'object' && given !== null && 'file' in given;
}
