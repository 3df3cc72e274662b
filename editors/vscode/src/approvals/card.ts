// A request as the native parts of VS Code show it: plain text for papers, Markdown for comments and tooltips.
//
// Owns that nothing of it is cut, that nothing in it can hide, and that nothing in it is taken for markup. Does not own
// where it stands.

import * as vscode from 'vscode';

import { lines, perFile } from '../core/diff';
import { escaped, named, oneLine, warning, word } from '../core/display';
import { askedFor, beside, fileName, requestTitle, rulesKept } from '../core/labels';
import { isPrefix } from '../core/requests';
import type { Request } from '../protocol.gen';

/** What it would do, complete, as lines of text. */
export function body(request: Request): { text: string; language: string } {
  const card = request.card ?? {};
  if (typeof card.command === 'string') {
    const where = typeof card.cwd === 'string' ? [`# in ${oneLine(card.cwd, 1000)}`] : [];
    const more = beside(card).map((line) => `# ${line}`);
    return { text: [escaped(card.command), ...where, ...more].join('\n'), language: 'shellscript' };
  }
  if (typeof card.diff === 'string') {
    return { text: lines(card.diff).map((line) => named(line.text)).join('\n'), language: 'diff' };
  }
  if (request.questions !== undefined && request.questions.length > 0) {
    return { text: request.questions.map((question) => escaped(word(question['text'] ?? question['header']))).join('\n'), language: 'plaintext' };
  }
  const given = Object.entries(request.input ?? card).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return { text: escaped(given.join('\n')), language: 'plaintext' };
}

/** The same as a few lines for a narrow list: of a change what comes and goes, not what stays. */
export function gist(request: Request): string[] {
  const diff = request.card?.diff;
  return typeof diff === 'string' ? lines(diff).filter(({ kind }) => kind !== 'same').map(({ text }) => named(text)) : body(request).text.replace(/\n$/, '').split('\n');
}

export interface Change {
  readonly uri: vscode.Uri;
  readonly diff: string;
}

/** The files that it would change; of a patch over several each one, where its diff is all there. */
export function changes(request: Request): Change[] {
  const card = request.card ?? {};
  if (request.kind !== 'approval' || card.type !== 'edit' || typeof card.uri !== 'string' || typeof card.diff !== 'string') {
    return [];
  }
  const named = (Array.isArray(card.files) ? (card.files as { uri?: unknown }[]) : []).map(({ uri }) => word(uri));
  const parts = perFile(card.diff);
  const uris = named.length > 1 && named.length === parts.length ? named : [card.uri];
  return uris.map((uri, at) => ({ uri: vscode.Uri.parse(uri), diff: parts[at] ?? '' }));
}

/** The first of them. */
export function change(request: Request): Change | undefined {
  return changes(request)[0];
}

/** What of it touches this document. */
export function changeOf(request: Request, uri: vscode.Uri | undefined): Change | undefined {
  return changes(request).find((one) => one.uri.toString() === uri?.toString());
}

/** A notebook is shown as the text of its file, in a name that opens as text. */
export function isNotebook({ path }: vscode.Uri): boolean {
  return path.endsWith('.ipynb');
}

/** The name of what a file would become. */
export function paperName(uri: vscode.Uri): string {
  return `${uri.path.slice(uri.path.lastIndexOf('/') + 1)}${isNotebook(uri) ? '.json' : ''}`;
}

export function markdown(request: Request): vscode.MarkdownString {
  const { text, language } = body(request);
  const said = new vscode.MarkdownString(undefined, false);
  said.isTrusted = false;
  said.supportHtml = false;
  const alarm = warning(typeof request.card?.command === 'string' ? request.card.command : text);
  if (alarm !== undefined) {
    said.appendText(`⚠ ${alarm}\n\n`);
  }
  const fence = '`'.repeat(Math.max(3, longestTicks(text) + 1));
  said.appendMarkdown(`${fence}${language === 'shellscript' ? 'sh' : language}\n${text}\n${fence}\n`);
  const asked = askedFor(request);
  if (asked !== undefined) {
    said.appendText(`${asked}\n`);
  }
  for (const { rule, labels } of rulesKept(request.options)) {
    said.appendText(`${labels} ${rule}\n`);
  }
  return said;
}

/** `Edit hello.py`, or what else it is. */
export function heading(request: Request): string {
  const changed = change(request);
  if (changed !== undefined) {
    return oneLine(request.title) || `Change ${fileName(changed.uri.toString())}`;
  }
  return requestTitle(request);
}

/** What menus may offer, read by `when` clauses. */
export function flags(request: Request, editable: boolean): string {
  const scopes = request.options.filter((option) => option.decision === 'allow').map((option) => option.scope ?? 'once');
  const prefix = request.options.some(isPrefix) ? ['prefix'] : [];
  return [request.kind, ...(editable ? ['editable'] : []), ...new Set(scopes), ...prefix].join('.');
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
}
