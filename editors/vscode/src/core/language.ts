// What VS Code knows of a language, as LSP writes it.
//
// Owns which questions of the daemon are passed on, and the shapes of their answers. Pure: VS Code's own objects come in as
// the plain parts that are read of them.

interface Position {
  readonly line: number;
  readonly character: number;
}

interface Range {
  readonly start: Position;
  readonly end: Position;
}

interface Text {
  toString(): string;
}

export interface Diagnostic {
  readonly range: Range;
  readonly severity: number;
  readonly message: string;
  readonly source?: string | undefined;
}

/** Our own are not repeated to us. */
const SOURCE = 'agent-ls';
const MOST_OF_A_FILE = 200;
const LONGEST = 1000;

/** Questions that change nothing, each with the command of VS Code that answers it, and what it is asked about. */
export const QUESTIONS: Readonly<Record<string, { readonly command: string; readonly about: 'query' | 'document' | 'position' }>> = {
  'workspace/symbol': { command: 'vscode.executeWorkspaceSymbolProvider', about: 'query' },
  'textDocument/documentSymbol': { command: 'vscode.executeDocumentSymbolProvider', about: 'document' },
  'textDocument/references': { command: 'vscode.executeReferenceProvider', about: 'position' },
  'textDocument/definition': { command: 'vscode.executeDefinitionProvider', about: 'position' },
  'textDocument/declaration': { command: 'vscode.executeDeclarationProvider', about: 'position' },
  'textDocument/typeDefinition': { command: 'vscode.executeTypeDefinitionProvider', about: 'position' },
  'textDocument/implementation': { command: 'vscode.executeImplementationProvider', about: 'position' },
  'textDocument/hover': { command: 'vscode.executeHoverProvider', about: 'position' },
};

/** What VS Code counts from 0 and LSP from 1 is counted anew. */
export function remarks(found: readonly Diagnostic[]): Record<string, unknown>[] {
  return found
    .filter(({ source }) => source !== SOURCE)
    .slice(0, MOST_OF_A_FILE)
    .map(({ range, severity, message, source }) => ({ range: rangeOf(range), severity: severity + 1, message: message.slice(0, LONGEST), ...(source === undefined ? {} : { source }) }));
}

export interface Symbol {
  readonly name: string;
  readonly kind: number;
  readonly containerName?: string;
  readonly location?: Location;
  readonly range?: Range;
  readonly selectionRange?: Range;
  readonly children?: readonly Symbol[];
}

export interface Location {
  readonly uri: Text;
  readonly range: Range;
}

export interface LocationLink {
  readonly targetUri: Text;
  readonly targetRange: Range;
  readonly targetSelectionRange?: Range;
}

/** Some servers write the arguments of a function into its name; whoever looks for a name means what stands before them. */
const CALLABLE = new Set([5, 8, 11]);

export function symbolOf({ name: shown, kind, containerName, location, range, selectionRange, children }: Symbol): Record<string, unknown> {
  const name = CALLABLE.has(kind) ? shown.replace(/(?<=.)\(.*$/su, '').trim() : shown;
  const inside = containerName === undefined || containerName === '' ? {} : { containerName };
  const nested = range === undefined ? {} : { range: rangeOf(range), selectionRange: rangeOf(selectionRange ?? range), children: (children ?? []).map(symbolOf) };
  return { name, kind: kind + 1, ...inside, ...(location === undefined ? {} : { location: placeOf(location) }), ...nested };
}

export function placeOf(found: Location | LocationLink): Record<string, unknown> {
  return 'targetUri' in found
    ? { uri: found.targetUri.toString(), range: rangeOf(found.targetSelectionRange ?? found.targetRange) }
    : { uri: found.uri.toString(), range: rangeOf(found.range) };
}

/** Its texts, one beneath the other. */
export function hoverOf(found: readonly { readonly contents: readonly (string | { readonly value: string })[] }[]): Record<string, unknown> | null {
  const texts = found.flatMap(({ contents }) => contents.map((one) => (typeof one === 'string' ? one : one.value))).filter((text) => text.trim() !== '');
  return texts.length === 0 ? null : { contents: { kind: 'markdown', value: texts.join('\n\n') } };
}

/** Out of what the daemon sent; undefined where it is no place. */
export function positionOf(params: unknown): Position | undefined {
  const given = (params as { position?: Partial<Position> } | null | undefined)?.position;
  const { line, character } = given ?? {};
  return Number.isInteger(line) && Number.isInteger(character) && Number(line) >= 0 && Number(character) >= 0 ? { line: Number(line), character: Number(character) } : undefined;
}

function rangeOf({ start, end }: Range): Range {
  const at = ({ line, character }: Position): Position => ({ line, character });
  return { start: at(start), end: at(end) };
}
