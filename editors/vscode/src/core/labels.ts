// Calls, requests and messages in the words of a person: titles, outcomes, spoken labels.
//
// Owns the sentences that lists, cards and screen readers share. Does not own how they are drawn. Pure.

import { count } from './diff';
import { escaped, oneLine, word } from './display';
import type { Block, Call, ConversationStatus, ContextItem, Item, Option, Request } from '../protocol.gen';

/** `read hello.py`, `$ make test`. */
export function callTitle(call: Call): string {
  const { command, path, pattern, url } = call.input;
  if (typeof command === 'string') {
    return `$ ${oneLine(command, 100)}`;
  }
  const target = path ?? pattern ?? url;
  return oneLine(typeof target === 'string' ? `${call.tool} ${target}` : (call.title ?? call.tool), 100);
}

/** `exit 1 · 12 lines · allowed by ada in neovim`, as a list. */
export function outcome(call: Call): string[] {
  const { result } = call;
  const parts: string[] = [];
  if (call.diff) {
    const { added, removed } = count(call.diff);
    parts.push(`+${added} −${removed}`);
  }
  if (result && result.status !== 'ok' && result.status !== 'denied') {
    parts.push(result.status.replaceAll('_', ' '));
  }
  if (result?.exitCode) {
    parts.push(`exit ${result.exitCode}`);
  }
  if (call.state === 'denied') {
    parts.push(decided('denied', call));
  } else if (result?.data?.['walled'] !== undefined && call.walled !== undefined) {
    parts.push('not run outside the sandbox');
  } else if (call.decidedBy && call.decidedFrom) {
    parts.push(decided('allowed', call));
  }
  return parts;
}

function decided(verb: string, call: Call): string {
  const by = call.decidedBy ? ` by ${oneLine(call.decidedBy, 40)}` : '';
  return call.decidedFrom ? `${verb}${by} in ${oneLine(call.decidedFrom, 40)}` : `${verb}${by}`;
}

/** One line without the number; a command stands in its card whole. */
export function requestTitle(request: Request): string {
  const card = request.card ?? {};
  if (typeof card.command === 'string') {
    return `$ ${oneLine(card.command, 100)}`;
  }
  return oneLine(request.title, 120);
}

/** What else there is to know before a command is allowed: where it would run, what became of it in the sandbox, where its
 * words lead, what is different around it. Each a line of its card. */
export function beside(card: Record<string, unknown>): string[] {
  const found: string[] = [];
  if (card['background'] === true) {
    found.push('in the background: it goes on when the run has ended');
  }
  if (card['outside'] === true) {
    found.push('outside the sandbox');
  }
  if (typeof card['failed'] === 'string') {
    const said = word(card['output']);
    found.push(escaped(card['failed']).replaceAll('\n', ' '), ...escaped(said).split('\n').map((line) => `  ${line}`));
  }
  const pairs = (given: unknown): [string, unknown][] => Object.entries(typeof given === 'object' && given !== null ? given : {});
  return [
    ...found,
    ...pairs(card['targets']).map(([name, place]) => `${oneLine(name, 1000)} is ${oneLine(word(place), 1000)}`),
    ...pairs(card['environment']).map(([name, value]) => (value === null ? `without ${oneLine(name, 1000)}` : `with ${oneLine(`${name}=${word(value)}`, 1000)}`)),
  ];
}

/** Which part of the work asks, where it is not the conversation itself. */
export function askedFor({ origin }: Request): string | undefined {
  return origin === undefined ? undefined : `asked by the subagent for: ${oneLine(origin.task, 200)}`;
}

/** What an “always” would keep, shown before it is kept: each rule once, with the answers that keep it. */
export function rulesKept(options: readonly Option[]): { readonly rule: string; readonly labels: string }[] {
  const found = new Map<string, string[]>();
  for (const { rule, label } of options) {
    if (rule !== undefined) {
      found.set(rule, [...(found.get(rule) ?? []), `“${oneLine(label, 60)}”`]);
    }
  }
  return [...found].map(([rule, labels]) => ({ rule: oneLine(rule, 200), labels: `${labels.join(' and ')} ${labels.length === 1 ? 'keeps' : 'keep'} the rule` }));
}

export function spokenRequest(request: Request, where: string): string {
  const what = { approval: 'Approval', question: 'Question', plan: 'Plan' }[request.kind];
  return `${what} number ${request.number}: ${requestTitle(request)}${where === '' ? '' : `, asked in ${where}`}`;
}

/** `hello.py:2-5` */
export function contextTitle(item: ContextItem): string {
  const name = item.uri === undefined ? item.type : fileName(item.uri);
  const range = item.range as { start?: { line: number }; end?: { line: number; character: number } } | undefined;
  if (range?.start === undefined || range.end === undefined) {
    return item.type === 'diagnostics' ? `problems of ${name}` : name;
  }
  const first = range.start.line + 1;
  const last = Math.max(first, range.end.line + (range.end.character > 0 ? 1 : 0));
  return first === last ? `${name}:${first}` : `${name}:${first}-${last}`;
}

export function fileName(uri: string): string {
  const path = uri.replace(/[?#].*$/, '');
  return oneLine(decoded(path.slice(path.lastIndexOf('/') + 1)) || uri, 80);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What a message says, on one line. */
export function messageTitle(content: readonly Block[] | undefined): string {
  const words = (content ?? []).map((block) => {
    switch (block.type) {
      case 'text':
        return block.text ?? '';
      case 'file':
        return `@${fileName(block.uri ?? '')}`;
      default:
        return `[${block.type}]`;
    }
  });
  return oneLine(words.join(' ').trim(), 120);
}

export const STATUS_WORDS: Record<ConversationStatus, string> = {
  idle: 'idle',
  queued: 'queued',
  running: 'running',
  waiting: 'waits for you',
  stopping: 'stopping',
};

export function isCall(item: Item): item is Item & { payload: Call } {
  return item.kind === 'tool_call' || item.kind === 'command' || item.kind === 'file_change';
}

export function tokens(count: number): string {
  return count < 1000 ? String(count) : count < 1_000_000 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function cost(usd: number | undefined): string {
  return usd === undefined ? '' : usd === 0 ? '$0' : usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`;
}
