// What the language servers of this window say: told to the daemon as it changes, and asked for when it asks.
//
// Owns that only questions which change nothing are passed on, that an answer has its time, and that what changes together
// is told together. Does not own the shapes (core/language.ts).

import * as vscode from 'vscode';
import { LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';

import type { Agent } from './context';
import { QUESTIONS, hoverOf, placeOf, positionOf, remarks, symbolOf, type Location, type LocationLink, type Symbol } from './core/language';
import type { LanguageRequest } from './protocol.gen';

const QUIET_MS = 100;
const ANSWER_MS = 8000;
const MOST_FILES = 2000;

export function shareLanguage(agent: Agent): vscode.Disposable[] {
  const teller = new Teller(agent);
  agent.link.answer('agent/lsp/request', (params) => answered(params));
  return [
    teller,
    vscode.languages.onDidChangeDiagnostics(({ uris }) => teller.changed(uris)),
    agent.link.onState((state) => state === 'ready' && teller.anew()),
  ];
}

class Teller implements vscode.Disposable {
  private readonly waiting = new Map<string, vscode.Uri>();
  /** What was said of each file, and of which version of it. */
  private readonly told = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly agent: Agent) {}

  changed(uris: readonly vscode.Uri[]): void {
    uris.filter(({ scheme }) => scheme === 'file').forEach((uri) => this.waiting.set(uri.toString(), uri));
    this.timer ??= setTimeout(() => this.tell(), QUIET_MS);
  }

  /** A new daemon knows nothing of what was said before. */
  anew(): void {
    this.told.clear();
    this.changed(vscode.languages.getDiagnostics().slice(0, MOST_FILES).map(([uri]) => uri));
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private tell(): void {
    this.timer = undefined;
    if (this.agent.link.state !== 'ready') {
      return this.waiting.clear();
    }
    for (const [key, uri] of this.waiting) {
      const version = vscode.workspace.textDocuments.find((one) => one.uri.toString() === key)?.version;
      const diagnostics = remarks(vscode.languages.getDiagnostics(uri));
      const said = JSON.stringify([version, diagnostics]);
      if (this.told.get(key) !== said && (diagnostics.length > 0 || this.told.has(key))) {
        this.told.set(key, said);
        this.agent.link.tell('agent/diagnostics', { uri: key, ...(version === undefined ? {} : { version }), diagnostics });
      }
    }
    this.waiting.clear();
  }
}

async function answered({ method, params }: LanguageRequest): Promise<Record<string, unknown>> {
  const question = Object.hasOwn(QUESTIONS, method) ? QUESTIONS[method] : undefined;
  if (question === undefined) {
    throw refusal(`This window passes on questions only, and \`${method.slice(0, 100)}\` is none.`);
  }
  const asked = vscode.commands.executeCommand<unknown[] | undefined>(question.command, ...argumentsOf(question.about, params));
  const found = await Promise.race([asked, new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), ANSWER_MS))]);
  if (found === 'late') {
    throw refusal('The language servers of this window take too long.');
  }
  // The protocol says an object; those who ask expect what LSP answers, and that is a list.
  return asLsp(method, found ?? []) as Record<string, unknown>;
}

function argumentsOf(about: 'query' | 'document' | 'position', params: unknown): unknown[] {
  const given = (params ?? {}) as { query?: unknown; textDocument?: { uri?: unknown } };
  if (about === 'query') {
    return [typeof given.query === 'string' ? given.query : ''];
  }
  const uri = typeof given.textDocument?.uri === 'string' ? vscode.Uri.parse(given.textDocument.uri) : undefined;
  const at = positionOf(params);
  if (uri?.scheme !== 'file' || (about === 'position' && at === undefined)) {
    throw refusal('The question names no place in a file.');
  }
  return about === 'document' || at === undefined ? [uri] : [uri, new vscode.Position(at.line, at.character)];
}

function asLsp(method: string, found: unknown[]): unknown {
  switch (method) {
    case 'workspace/symbol':
    case 'textDocument/documentSymbol':
      return (found as Symbol[]).map(symbolOf);
    case 'textDocument/hover':
      return hoverOf(found as vscode.Hover[]);
    default:
      return (found as (Location | LocationLink)[]).map(placeOf);
  }
}

function refusal(sentence: string): ResponseError<undefined> {
  return new ResponseError(LSPErrorCodes.RequestFailed, sentence);
}
