// Markdown of the model as elements of the page: never as HTML.
//
// Owns that text stays text: markdown-it reads it, and each of its tokens becomes an element out of a short list. HTML in
// it is shown as it is written, pictures are named, links are buttons that ask the extension. Text in flight is cut into
// blocks, so that each new word draws the last block only.

import MarkdownIt, { type Token } from 'markdown-it';
import type { ComponentChild, JSX } from 'preact';
import { memo } from './memo';
import { tell } from './host';
import { prose } from '../src/core/display';

const reader = new MarkdownIt({ html: false, linkify: false, typographer: false });
const ELEMENTS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'strong', 'em', 's']);
/** A block longer than this is shown as plain text: reading it would hold the page up. */
const LONGEST_BLOCK = 12_000;
const LONGEST_TEXT = 60_000;

export function Markdown({ text, title }: { readonly text: string; readonly title: string }): JSX.Element {
  const shown = text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text;
  return (
    <div class="markdown">
      {blocksOf(prose(shown)).map((block, at) => (
        <Block key={at} text={block} />
      ))}
      {shown.length < text.length && (
        <button class="link" onClick={() => tell({ type: 'text', text, title, language: 'markdown' })}>
          … {(text.length - shown.length).toLocaleString('en')} more characters: open all of it
        </button>
      )}
    </div>
  );
}

const Block = memo(({ text }: { readonly text: string }): JSX.Element => <>{text.length > LONGEST_BLOCK ? <p class="plain">{text}</p> : elementsOf(text)}</>);

/** Cut where a new block begins for certain: after a blank line outside of code, before a line that begins at its margin
 * and is no item of a list. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let begin = 0;
  let fence = '';
  let blank = false;
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    const head = text.slice(at, Math.min(end, at + 80));
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(head)?.[1] ?? '';
    if (fence === '' && blank && at > begin && !/^(\s|[-*+]\s|\d+[.)]\s|$)/.test(head)) {
      blocks.push(text.slice(begin, at));
      begin = at;
    }
    if (mark !== '') {
      fence = fence === '' ? mark : mark.startsWith(fence) ? '' : fence;
    }
    blank = head.trim() === '' && end - at < 80;
    at = end + 1;
  }
  if (begin < text.length) {
    blocks.push(text.slice(begin));
  }
  return blocks;
}

interface Open {
  readonly tag: string;
  readonly href?: string;
  readonly start?: string;
  readonly children: ComponentChild[];
}

export function elementsOf(text: string): ComponentChild[] {
  return built(reader.parse(text, {}));
}

function built(tokens: readonly Token[]): ComponentChild[] {
  const root: Open = { tag: '', children: [] };
  const stack: Open[] = [root];
  for (const token of tokens) {
    const top = stack.at(-1) ?? root;
    if (token.nesting === 1) {
      const [href, start] = [token.attrGet('href'), token.attrGet('start')];
      stack.push({ tag: token.hidden ? '' : token.tag, children: [], ...(href === null ? {} : { href: String(href) }), ...(start === null ? {} : { start: String(start) }) });
    } else if (token.nesting === -1) {
      const closed = stack.length > 1 ? stack.pop() : undefined;
      if (closed !== undefined) {
        (stack.at(-1) ?? root).children.push(closedElement(closed));
      }
    } else {
      top.children.push(single(token));
    }
  }
  return root.children;
}

function closedElement({ tag, href, start, children }: Open): ComponentChild {
  if (tag === 'a') {
    return <Link href={href ?? ''}>{children}</Link>;
  }
  if (tag === 'ol' && start !== undefined) {
    return <ol start={Number(start)}>{children}</ol>;
  }
  const Element = tag as 'p';
  return ELEMENTS.has(tag) ? <Element>{children}</Element> : <>{children}</>;
}

function single(token: Token): ComponentChild {
  switch (token.type) {
    case 'inline':
      return <>{built(token.children ?? [])}</>;
    case 'softbreak':
      return '\n';
    case 'hardbreak':
      return <br />;
    case 'hr':
      return <hr />;
    case 'code_inline':
      return <code>{token.content}</code>;
    case 'fence':
    case 'code_block':
      return <Code text={token.content.replace(/\n$/, '')} language={token.info.trim().split(/\s+/)[0] ?? ''} />;
    case 'image':
      return <span class="picture">[picture: {token.content || 'without a name'}]</span>;
    default:
      return token.content;
  }
}

function Link({ href, children }: { readonly href: string; readonly children: ComponentChild }): JSX.Element {
  return (
    <button class="link" title={href} onClick={() => tell({ type: 'link', href })}>
      {children}
    </button>
  );
}

function Code({ text, language }: { readonly text: string; readonly language: string }): JSX.Element {
  return (
    <div class="code">
      <div class="code-head">
        <span>{language}</span>
        <button class="icon codicon codicon-copy" aria-label="Copy the code" title="Copy" onClick={() => void navigator.clipboard.writeText(text)} />
      </div>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
