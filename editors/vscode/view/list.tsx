// A list that draws only the rows on the screen, and stays where the person reads.
//
// Owns following the end, and that rows that come or grow above do not move what is read. Does not own what a row is.

import { Component, createRef, type ComponentChild } from 'preact';

import { Heights } from './heights';

interface Props {
  /** Another one is another list: it begins at its end. */
  readonly of: string;
  readonly keys: readonly string[];
  readonly guess: (at: number) => number;
  readonly row: (at: number) => ComponentChild;
  readonly label: string;
}

const NEAR_END_PX = 32;
const MARGIN_PX = 600;

export class List extends Component<Props> {
  private readonly scroller = createRef<HTMLDivElement>();
  private readonly window = createRef<HTMLDivElement>();
  private readonly heights = new Heights();
  private readonly watched = new Set<Element>();
  private follows = true;
  private anchor: { key: string; into: number } | undefined;
  private shown: { top: number; height: number; width: number } = { top: Number.MAX_SAFE_INTEGER, height: 800, width: 0 };
  private readonly sizes = new ResizeObserver((entries) => this.sized(entries));

  override componentDidMount(): void {
    if (this.scroller.current !== null) {
      this.sizes.observe(this.scroller.current);
    }
    this.settle();
  }

  override componentWillReceiveProps(next: Props): void {
    if (next.of !== this.props.of) {
      this.follows = true;
      this.anchor = undefined;
      this.shown.top = Number.MAX_SAFE_INTEGER;
    }
  }

  override componentDidUpdate(): void {
    this.settle();
  }

  override componentWillUnmount(): void {
    this.sizes.disconnect();
  }

  /** Goes to the end and stays there. */
  toEnd(): void {
    this.follows = true;
    this.forceUpdate();
  }

  override render(): ComponentChild {
    const { keys, guess, row, label } = this.props;
    this.heights.arrange(keys, guess);
    const top = this.follows ? this.heights.total - this.shown.height : this.anchored();
    const { first, end } = this.heights.range(top, this.shown.height, MARGIN_PX);
    const rows: ComponentChild[] = [];
    for (let at = first; at < end; at += 1) {
      rows.push(
        <div class="row" role="listitem" key={keys[at]} data-key={keys[at]} aria-setsize={keys.length} aria-posinset={at + 1}>
          {row(at)}
        </div>,
      );
    }
    return (
      <div class="scroller" ref={this.scroller} onScroll={this.scrolled} tabIndex={0} role="region" aria-label={label}>
        <div class="sizer" style={{ height: `${this.heights.total}px` }}>
          <div class="window" role="list" ref={this.window} style={{ transform: `translateY(${this.heights.top(first)}px)` }}>
            {rows}
          </div>
        </div>
      </div>
    );
  }

  private readonly scrolled = (): void => {
    const element = this.scroller.current;
    if (element === null || Math.abs(element.scrollTop - this.shown.top) < 1) {
      return;
    }
    this.shown.top = element.scrollTop;
    this.follows = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    this.remember();
    this.forceUpdate();
  };

  /** The row at the upper edge, and how far it is scrolled into. */
  private remember(): void {
    const at = this.heights.at(this.shown.top);
    const key = this.props.keys[at];
    this.anchor = key === undefined ? undefined : { key, into: this.shown.top - this.heights.top(at) };
  }

  private anchored(): number {
    const at = this.anchor === undefined ? -1 : this.heights.indexOf(this.anchor.key);
    return at === -1 || this.anchor === undefined ? this.shown.top : this.heights.top(at) + this.anchor.into;
  }

  /** After each drawing: the view is where it was for the person, and new rows are measured. */
  private settle(): void {
    const element = this.scroller.current;
    if (element === null) {
      return;
    }
    const wanted = this.follows ? element.scrollHeight - element.clientHeight : this.anchored();
    if (Math.abs(element.scrollTop - wanted) > 1) {
      element.scrollTop = wanted;
    }
    this.shown.top = element.scrollTop;
    this.watch();
  }

  private watch(): void {
    const now = new Set<Element>(this.window.current?.children ?? []);
    for (const row of this.watched) {
      if (!now.has(row)) {
        this.sizes.unobserve(row);
        this.watched.delete(row);
      }
    }
    for (const row of now) {
      if (!this.watched.has(row)) {
        this.watched.add(row);
        this.sizes.observe(row);
      }
    }
  }

  private sized(entries: readonly ResizeObserverEntry[]): void {
    let news = false;
    for (const { target, contentRect } of entries) {
      if (target === this.scroller.current) {
        news ||= this.shown.height !== contentRect.height || this.shown.width !== contentRect.width;
        if (this.shown.width !== 0 && this.shown.width !== contentRect.width) {
          this.heights.forget();
        }
        this.shown = { ...this.shown, height: contentRect.height, width: contentRect.width };
      } else if (target instanceof HTMLElement && target.dataset['key'] !== undefined && contentRect.height > 0) {
        news = this.heights.measured(target.dataset['key'], contentRect.height) || news;
      }
    }
    if (news) {
      this.forceUpdate();
    }
  }
}
