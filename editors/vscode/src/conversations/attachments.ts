// What goes with the next message beside its words: a selection, the problems of a file, files that were picked.
//
// Owns these until the message is sent. A document that is no file of a disk goes along as its text.

import * as vscode from 'vscode';

import { contextTitle } from '../core/labels';
import type { ContextItem } from '../protocol.gen';
import type { Voice } from '../voice';

const SEVERITIES = ['error', 'warning', 'information', 'hint'];
const MOST_PROBLEMS = 50;

export class Attachments implements vscode.Disposable {
  private items: ContextItem[] = [];
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onChange = this.changed.event;

  constructor(private readonly voice: Voice) {}

  all(): readonly ContextItem[] {
    return this.items;
  }

  titles(): { label: string; title: string }[] {
    return this.items.map((item) => ({ label: contextTitle(item), title: item.uri ?? item.type }));
  }

  add(item: ContextItem): void {
    const same = (other: ContextItem): boolean =>
      other.type === item.type && other.uri === item.uri && JSON.stringify(other.range) === JSON.stringify(item.range);
    this.items = [...this.items.filter((other) => !same(other)), item];
    this.changed.fire();
  }

  remove(at: number): void {
    this.items = this.items.filter((_, place) => place !== at);
    this.changed.fire();
  }

  /** What is attached goes with the message that is sent now. */
  take(): ContextItem[] {
    const taken = this.items;
    this.items = [];
    this.changed.fire();
    return taken;
  }

  /** A message that could not be sent gives back what was to go with it. */
  giveBack(taken: readonly ContextItem[]): void {
    taken.forEach((item) => this.add(item));
  }

  selection(): boolean {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || editor.selection.isEmpty) {
      this.voice.say('Nothing is selected.');
      return false;
    }
    const { document, selection } = editor;
    const item = { type: 'selection', uri: document.uri.toString(), range: plain(selection) };
    // Of a file the daemon knows the text, unsaved changes included; of anything else it is told.
    this.add(document.uri.scheme === 'file' ? item : { ...item, text: document.getText(selection) });
    return true;
  }

  problems(): boolean {
    const document = vscode.window.activeTextEditor?.document;
    const found = document === undefined ? [] : vscode.languages.getDiagnostics(document.uri);
    if (document === undefined || found.length === 0) {
      this.voice.say('This file has no problems.');
      return false;
    }
    const lines = found.slice(0, MOST_PROBLEMS).map(
      (one) => `${one.range.start.line + 1}:${one.range.start.character + 1} ${SEVERITIES[one.severity] ?? ''} ${one.source ?? ''} ${one.message}`,
    );
    this.add({ type: 'diagnostics', uri: document.uri.toString(), text: lines.join('\n') });
    return true;
  }

  file(uri: vscode.Uri): void {
    this.add({ type: 'file', uri: uri.toString() });
  }

  /** Asks what to attach; asked for by the person, so it may take the focus. */
  async pick(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const offers: (vscode.QuickPickItem & { run(): unknown })[] = [];
    if (editor !== undefined && !editor.selection.isEmpty) {
      offers.push({ label: '$(list-selection) Selection', description: contextTitle({ type: 'selection', uri: editor.document.uri.toString(), range: plain(editor.selection) }), run: () => this.selection() });
    }
    if (editor !== undefined && vscode.languages.getDiagnostics(editor.document.uri).length > 0) {
      offers.push({ label: '$(warning) Problems of This File', run: () => this.problems() });
    }
    for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
      const uri = tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
      if (uri?.scheme === 'file') {
        offers.push({ label: `$(file) ${tab.label}`, description: vscode.workspace.asRelativePath(uri), run: () => this.file(uri) });
      }
    }
    offers.push({ label: '$(folder-opened) Another File…', run: () => this.another() });
    const chosen = await vscode.window.showQuickPick(offers, { title: 'Attach to the message' });
    await chosen?.run();
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async another(): Promise<void> {
    const chosen = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: 'Attach' });
    chosen?.forEach((uri) => this.file(uri));
  }
}

function plain(range: vscode.Range): Record<string, unknown> {
  const at = ({ line, character }: vscode.Position): object => ({ line, character });
  return { start: at(range.start), end: at(range.end) };
}
