// A component that is drawn again only when one of its properties is another one.

import { Component, type ComponentChild, type FunctionComponent } from 'preact';

export function memo<P extends object>(draw: (props: P) => ComponentChild): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [now, then] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      const names = new Set([...Object.keys(now), ...Object.keys(then)]);
      return [...names].some((name) => now[name] !== then[name]);
    }

    override render(props: P): ComponentChild {
      return draw(props);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
