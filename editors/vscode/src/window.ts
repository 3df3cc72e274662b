// What the daemon asks of this window, and what it is told of it: saving, showing a place, where the focus is.

import * as vscode from 'vscode';

import type { Agent } from './context';

const QUIET_MS = 150;

export function serve(agent: Agent): vscode.Disposable[] {
  agent.link.answer('agent/document/save', async ({ uri }) => ({ saved: await save(uri) }));
  agent.link.answer('agent/ui/reveal', async ({ uri, range }) => {
    await reveal(uri, range);
    return {};
  });
  let timer: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => tellFocus(agent), QUIET_MS);
  };
  return [
    vscode.window.onDidChangeWindowState(soon),
    vscode.window.onDidChangeActiveTextEditor(soon),
    agent.link.onState((state) => state === 'ready' && soon()),
    new vscode.Disposable(() => clearTimeout(timer)),
  ];
}

function tellFocus(agent: Agent): void {
  const editor = vscode.window.activeTextEditor;
  const at = ({ line, character }: vscode.Position): object => ({ line, character });
  const place = editor && { uri: editor.document.uri.toString(), range: { start: at(editor.selection.start), end: at(editor.selection.end) } };
  agent.link.tell('agent/window/focus', { focused: vscode.window.state.focused, ...place });
}

async function save(given: string): Promise<boolean> {
  const wanted = vscode.Uri.parse(given).toString();
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === wanted);
  return document !== undefined && !document.isUntitled && (await document.save());
}

/** Without the focus, which never moves by itself. */
async function reveal(given: string, range: Record<string, unknown> | undefined): Promise<void> {
  const start = (range as { start?: { line?: number } } | undefined)?.start;
  const at = new vscode.Position(start?.line ?? 0, 0);
  await vscode.window.showTextDocument(vscode.Uri.parse(given), { preserveFocus: true, preview: true, selection: new vscode.Range(at, at) });
}
