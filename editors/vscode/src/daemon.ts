// The program `agent-ls`: finding it, offering to install it, and its verbs that need no link.
//
// Owns looking at the disk and starting processes. Does not own in which order is looked (core/find.ts) nor the link
// (client.ts).

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { settings } from './config';
import { candidates, type Candidate } from './core/find';

const VERB_LIMIT_MS = 60_000;

/** The first program that is there and may be run. */
export async function find(): Promise<Candidate | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
  const places = candidates({
    setting: settings().command,
    variable: process.env['AGENT_LS_CMD'] ?? '',
    path: (process.env['PATH'] ?? '').split(path.delimiter),
    trusted: vscode.workspace.isTrusted,
    folders: folders.map((folder) => folder.uri.fsPath),
    interpreter: vscode.workspace.isTrusted ? interpreter() : undefined,
    home: homedir(),
  });
  const roots = vscode.workspace.isTrusted ? [] : await Promise.all(folders.map((folder) => realpath(folder.uri.fsPath).catch(() => folder.uri.fsPath)));
  for (const candidate of places) {
    if (await runs(candidate.file, roots)) {
      return candidate;
    }
  }
  return undefined;
}

/** `never`: folders of which nothing is started, wherever a link to it stands. */
async function runs(file: string, never: readonly string[]): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    const real = await realpath(file);
    return !never.some((folder) => real.startsWith(`${folder}/`)) && (await stat(real)).isFile();
  } catch {
    return false;
  }
}

interface PythonExtension {
  readonly environments?: { getActiveEnvironmentPath(): { readonly path: string } };
}

/** Of the Python extension, where it is there and has started already. */
function interpreter(): string | undefined {
  const python = vscode.extensions.getExtension<PythonExtension>('ms-python.python');
  if (python?.isActive) {
    return python.exports.environments?.getActiveEnvironmentPath().path;
  }
  const named = vscode.workspace.getConfiguration('python').get<unknown>('defaultInterpreterPath');
  return typeof named === 'string' ? named : undefined;
}

/** `agent-ls VERB …` to its end: what it printed. */
export function run(program: string, verb: readonly string[]): Promise<{ ok: boolean; said: string }> {
  return new Promise((resolve) => {
    execFile(program, [...verb], { timeout: VERB_LIMIT_MS, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ ok: error === null, said: `${stdout}${stderr}` });
    });
  });
}

/** In a terminal that the person sees, and can stop. */
export function install(): void {
  const terminal = vscode.window.createTerminal({ name: 'Install agent-ls' });
  terminal.show();
  terminal.sendText(
    '{ if command -v uv >/dev/null; then uv tool install agent-ls; elif command -v pipx >/dev/null; then pipx install agent-ls; ' +
      "else python3 -m pip install --user agent-ls; fi; } || echo 'Not installed. From its source: make install'",
  );
}
