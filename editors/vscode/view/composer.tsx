// The input: words, `@file`, `/command`, pictures, what goes with them, and how they are sent.
//
// Owns that nothing that was written is lost: not by a reload, not by a message that could not be sent.

import { Component, createRef, type ComponentChild, type JSX } from 'preact';

import { tell } from './host';
import { Picture } from './items';
import { COMMANDS, blocksOf, commandOf, wordAt, type Word } from './words';
import type { Store } from './store';
import type { Dispatch } from '../src/conversations/messages';
import { oneLine, word } from '../src/core/display';
import type { Block } from '../src/protocol.gen';

interface State {
  readonly text: string;
  readonly images: readonly Block[];
  readonly word: Word | undefined;
  readonly picked: number;
}

interface Offer {
  readonly label: string;
  readonly detail: string;
  readonly insert: string;
  readonly uri?: string;
}

const LARGEST_IMAGE = 10 * 1024 * 1024;

export class Composer extends Component<{ readonly store: Store; readonly sent: () => void }, State> {
  override state: State = { text: '', images: [], word: undefined, picked: 0 };
  private readonly input = createRef<HTMLTextAreaElement>();
  private readonly files = new Map<string, string>();
  /** In a narrower view the same words take more lines. */
  private readonly widths = new ResizeObserver(([entry]) => {
    if (entry !== undefined && entry.contentRect.width !== this.width) {
      this.width = entry.contentRect.width;
      this.grow();
    }
  });
  private width = 0;
  private token = 0;
  private composed = 0;
  private drafted = 0;
  private sending: { token: number; text: string; images: readonly Block[] } | undefined;

  override componentDidMount(): void {
    if (this.input.current !== null) {
      this.widths.observe(this.input.current);
    }
    this.grow();
    this.heed();
  }

  override componentWillUnmount(): void {
    this.widths.disconnect();
  }

  override componentDidUpdate(): void {
    this.grow();
    this.heed();
  }

  override render(): ComponentChild {
    const { store } = this.props;
    const { text, images } = this.state;
    const running = store.conversation?.run !== undefined;
    const able = store.link.state === 'ready' && (text.trim() !== '' || images.length > 0);
    return (
      <div class="composer" onPaste={this.pasted} onDrop={this.dropped} onDragOver={(event) => event.preventDefault()}>
        {this.offers()}
        <Chips store={store} images={images} drop={(at) => this.setState({ images: images.filter((_, place) => place !== at) })} />
        <textarea
          ref={this.input}
          rows={1}
          value={text}
          placeholder={running ? 'Say something to the run, or queue it' : 'Ask the agent; @ names a file, / a command'}
          aria-label="Message to the agent"
          onInput={(event) => this.wrote(event.currentTarget)}
          onClick={(event) => this.looked(event.currentTarget)}
          onKeyDown={this.key}
        />
        <div class="bar">
          <button class="icon codicon codicon-add" aria-label="Attach a selection, problems or a file" title="Attach…" onClick={() => tell({ type: 'attach' })} />
          <Pickers store={store} />
          <span class="space" />
          {running ? this.whileRunning(able) : this.button('auto', 'Send', 'send', able)}
        </div>
      </div>
    );
  }

  private whileRunning(able: boolean): JSX.Element {
    const stopping = this.props.store.conversation?.status === 'stopping';
    return (
      <>
        {this.button('queue', 'Queue', 'list-ordered', able)}
        {this.button('steer', 'Steer', 'arrow-circle-right', able)}
        <button class="stop" aria-label="Stop the run" disabled={stopping} onClick={() => tell({ type: 'stop' })}>
          <span class="codicon codicon-debug-stop" aria-hidden="true" /> <span class="wide">{stopping ? 'Stopping' : 'Stop'}</span>
        </button>
      </>
    );
  }

  private button(dispatch: Dispatch, label: string, icon: string, able: boolean): JSX.Element {
    const usual = dispatch === 'auto' || dispatch === this.props.store.link.whileRunning;
    return (
      <button class={usual ? 'primary' : ''} aria-label={label} disabled={!able} title={usual ? `${label} (Enter)` : `${label} (Ctrl+Enter)`} onClick={() => this.send(dispatch)}>
        <span class={`codicon codicon-${icon}`} aria-hidden="true" /> <span class={usual ? 'label' : 'wide'}>{label}</span>
      </button>
    );
  }

  private offers(): JSX.Element | null {
    const offers = this.offered();
    return offers.length === 0 ? null : (
      <ul class="offers" role="listbox" id="offers" aria-label="Suggestions">
        {offers.map(({ label, detail }, at) => (
          <li key={detail + label} id={`offer-${at}`} role="option" aria-selected={at === this.state.picked} onMouseDown={(event) => (event.preventDefault(), this.take(at))}>
            <span>{oneLine(label, 60)}</span> <span class="dim">{oneLine(detail, 100)}</span>
          </li>
        ))}
      </ul>
    );
  }

  private offered(): Offer[] {
    const { word } = this.state;
    if (word?.kind === 'command') {
      return COMMANDS.filter(([name]) => name.startsWith(word.text)).map(([name, detail]) => ({ label: `/${name}`, detail, insert: `/${name} ` }));
    }
    const { completions } = this.props.store;
    return word === undefined || completions.token !== this.token
      ? []
      : completions.entries.map(({ label, detail, uri }) => ({ label, detail, insert: `@${detail} `, uri }));
  }

  private take(at: number): void {
    const { text, word } = this.state;
    const offer = this.offered()[at];
    if (offer === undefined || word === undefined) {
      return;
    }
    if (offer.uri !== undefined) {
      this.files.set(offer.detail, offer.uri);
    }
    const head = text.slice(0, word.from) + offer.insert;
    this.write(head + text.slice(word.from + 1 + word.text.length), head.length);
  }

  private write(text: string, cursor: number): void {
    tell({ type: 'draft', text });
    this.setState({ text, word: undefined, picked: 0 }, () => {
      this.input.current?.focus();
      this.input.current?.setSelectionRange(cursor, cursor);
    });
  }

  private wrote(input: HTMLTextAreaElement): void {
    tell({ type: 'draft', text: input.value });
    this.setState({ text: input.value });
    this.looked(input);
  }

  private looked(input: HTMLTextAreaElement): void {
    const word = wordAt(input.value, input.selectionStart);
    this.setState({ word, picked: 0 });
    if (word?.kind === 'file') {
      this.token += 1;
      tell({ type: 'complete', token: this.token, text: word.text });
    }
  }

  private readonly key = (event: KeyboardEvent): void => {
    const offers = this.offered();
    if (offers.length > 0 && this.keyInOffers(event, offers.length)) {
      event.preventDefault();
      return;
    }
    // While a word is being composed (Japanese, Chinese), Enter belongs to that.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) {
      return;
    }
    event.preventDefault();
    const { store } = this.props;
    const usual = store.link.whileRunning;
    const other = usual === 'queue' ? 'steer' : 'queue';
    this.send(store.conversation?.run === undefined ? 'auto' : event.ctrlKey || event.metaKey ? other : usual);
  };

  private keyInOffers(event: KeyboardEvent, count: number): boolean {
    const { picked, word } = this.state;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        this.setState({ picked: (picked + (event.key === 'ArrowDown' ? 1 : count - 1)) % count });
        return true;
      case 'Tab':
        this.take(picked);
        return true;
      case 'Enter':
        // A command that is written out is run, not completed.
        if (event.shiftKey || (word?.kind === 'command' && COMMANDS.some(([name]) => name === word.text))) {
          return false;
        }
        this.take(picked);
        return true;
      case 'Escape':
        this.setState({ word: undefined });
        return true;
      default:
        return false;
    }
  }

  private send(dispatch: Dispatch): void {
    const { text, images } = this.state;
    const command = commandOf(text);
    if (command !== undefined) {
      tell({ type: 'command', ...command });
      return this.write('', 0);
    }
    const content = blocksOf(text, this.files, images);
    if (content.length === 0 || this.props.store.link.state !== 'ready') {
      return;
    }
    this.token += 1;
    this.sending = { token: this.token, text, images };
    const id = this.props.store.conversation?.id;
    tell({ type: 'send', token: this.token, content, dispatch, ...(id === undefined ? {} : { conversationId: id }) });
    this.setState({ images: [] });
    this.write('', 0);
    this.props.sent();
  }

  /** What was said from outside since it was last drawn. */
  private heed(): void {
    const { composed, draft, sent } = this.props.store;
    if (draft.count !== this.drafted) {
      this.drafted = draft.count;
      this.setState({ text: draft.text });
    }
    if (composed.count !== this.composed) {
      this.composed = composed.count;
      if (composed.text !== undefined) {
        const joined = this.state.text === '' ? composed.text : `${this.state.text}\n${composed.text}`;
        this.write(joined, joined.length);
      }
      if (composed.focus) {
        this.input.current?.focus();
      }
    }
    if (this.sending !== undefined && sent.token === this.sending.token) {
      const { text, images } = this.sending;
      this.sending = undefined;
      if (!sent.ok && this.state.text === '') {
        this.setState({ images });
        this.write(text, text.length);
      }
    }
  }

  private readonly pasted = (event: ClipboardEvent): void => this.add(event.clipboardData?.files, event);
  private readonly dropped = (event: DragEvent): void => this.add(event.dataTransfer?.files, event);

  private add(files: FileList | undefined, event: Event): void {
    const given = [...(files ?? [])];
    const images = given.filter((file) => /^image\/(png|jpeg|gif|webp)$/.test(file.type) && file.size <= LARGEST_IMAGE);
    if (images.length < given.length) {
      this.props.store.hear({ type: 'say', sentence: 'Only PNG, JPEG, GIF and WebP pictures of at most 10 MB go in here; + attaches files.' });
    }
    if (images.length === 0) {
      return;
    }
    event.preventDefault();
    for (const file of images) {
      const reader = new FileReader();
      reader.onload = () => {
        const data = word(reader.result).replace(/^data:[^,]*,/, '');
        this.setState(({ images: held }) => ({ images: [...held, { type: 'image', mimeType: file.type, data }] }));
      };
      reader.readAsDataURL(file);
    }
  }

  private grow(): void {
    const input = this.input.current;
    if (input !== null) {
      input.style.height = 'auto';
      input.style.height = `${input.scrollHeight}px`;
    }
  }
}

function Chips({ store, images, drop }: { readonly store: Store; readonly images: readonly Block[]; readonly drop: (at: number) => void }): JSX.Element | null {
  if (store.chips.length === 0 && images.length === 0) {
    return null;
  }
  return (
    <ul class="chips" aria-label="Goes with the message">
      {store.chips.map(({ label, title }, at) => (
        <li key={title + label} title={title}>
          <span class="codicon codicon-symbol-snippet" aria-hidden="true" /> {label}
          <button class="icon codicon codicon-close" aria-label={`Do not attach ${label}`} onClick={() => tell({ type: 'unchip', at })} />
        </li>
      ))}
      {images.map((image, at) => (
        <li key={at}>
          <Picture mimeType={image.mimeType ?? ''} data={image.data ?? ''} />
          <button class="icon codicon codicon-close" aria-label="Do not attach this picture" onClick={() => drop(at)} />
        </li>
      ))}
    </ul>
  );
}

function Pickers({ store }: { readonly store: Store }): JSX.Element {
  const about = store.conversation?.about;
  const run = (name: string): void => tell({ type: 'command', name, argument: '' });
  return (
    <>
      <button class="picker" title="Mode: how much it may do without asking" aria-label={`Mode ${about?.mode ?? 'as configured'}; switch`} onClick={() => run('mode')}>
        {about?.mode ?? 'mode'} <span class="codicon codicon-chevron-down" aria-hidden="true" />
      </button>
      <button class={`picker ${store.conversation?.run === undefined ? '' : 'wide'}`} title={`Model${about === undefined ? '' : `: ${oneLine(about.model, 80)} (${oneLine(about.provider, 40)})`}`} aria-label={`Model ${about?.model ?? 'as configured'}; switch`} onClick={() => run('model')}>
        <span class="picker-name">{about === undefined ? 'model' : oneLine(about.model, 40)}</span> <span class="codicon codicon-chevron-down" aria-hidden="true" />
      </button>
    </>
  );
}
