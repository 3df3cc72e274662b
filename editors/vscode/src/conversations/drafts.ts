// What is half written follows the person: from this window to the others that show the conversation, and from them.
//
// Owns that nothing is written over while the person is here: then only an empty input, or one that shows what came from
// elsewhere, takes another text. Does not own the input (view/composer.tsx) nor where drafts lie (memory.ts).

import type { Link } from '../client';
import type { Memory } from '../memory';

export class Drafts {
  private readonly heard = new Map<string, string>();

  /** `changed` hears of a conversation whose draft here is another one now; `away`: the person is in no window of ours here. */
  constructor(
    private readonly link: Pick<Link, 'on' | 'tell'>,
    private readonly memory: Memory,
    private readonly away: () => boolean,
    private readonly changed: (conversation: string) => void,
  ) {
    link.on('agent/conversation/draft', ({ conversationId, text }) => this.take(conversationId, text, this.away()));
  }

  /** Written here, in the conversation or in one that is not there yet. */
  write(conversation: string | undefined, text: string): void {
    this.memory.write(conversation, text);
    if (conversation !== undefined) {
      this.heard.delete(conversation);
      this.link.tell('agent/conversation/draft', { conversationId: conversation, text });
    }
  }

  /** Written elsewhere; a daemon that is older tells of none. `newer`: than whatever was written here. */
  take(conversation: string, text: string, newer = false): void {
    const here = this.memory.draft(conversation);
    if (!newer && here !== '' && here !== this.heard.get(conversation)) {
      return;
    }
    this.heard.set(conversation, text);
    if (here !== text) {
      this.memory.write(conversation, text);
      this.changed(conversation);
    }
  }
}
