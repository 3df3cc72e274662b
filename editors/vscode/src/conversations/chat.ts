// The view "Chat": its page, and what page and extension say to each other.
//
// Owns the page's life: it may be closed, hidden and made anew at any time, and is then told everything again. Nothing the
// page says is believed: a link opens only what is harmless, an answer names a request and a digest that are checked.

import * as vscode from 'vscode';

import type { Attachments } from './attachments';
import { page } from './page';
import type { News } from './follow';
import type { FromPage, ToPage } from './messages';
import { workspaces } from './summaries';
import type { Agent } from '../context';
import { settings } from '../config';

/** Drawn at once; what is older comes after it, in portions that do not hold the page up. */
const AT_ONCE = 120;
const PORTION = 400;

export interface Deeds {
  handle(said: FromPage): Promise<void>;
}

export class Chat implements vscode.WebviewViewProvider, vscode.Disposable {
  static readonly id = 'agentLs.chat';
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private waiting: ToPage[] = [];
  private drafted: string | undefined;
  private told = false;
  private readonly subscriptions: vscode.Disposable[];
  deeds: Deeds | undefined;

  constructor(
    private readonly agent: Agent,
    private readonly attachments: Attachments,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider(Chat.id, this, { webviewOptions: { retainContextWhenHidden: true } }),
      agent.follow.onNews((news) => this.news(news)),
      agent.link.onState(() => this.tellLink()),
      agent.summaries.onChange(() => this.post({ type: 'summaries', summaries: agent.summaries.all() })),
      attachments.onChange(() => this.post({ type: 'chips', chips: attachments.titles() })),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('agentLs') && this.tellLink()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.tellLink()),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    view.webview.options = { enableScripts: true, enableCommandUris: false, localResourceRoots: [vscode.Uri.joinPath(this.agent.context.extensionUri, 'dist')] };
    view.webview.onDidReceiveMessage((said: FromPage) => void this.said(said));
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
    });
    view.webview.html = page(view.webview, this.agent.context.extensionUri);
  }

  shows(conversationId: string): boolean {
    return this.view?.visible === true && this.agent.follow.current?.id === conversationId;
  }

  /** Brings the input to the person, with these words in it. */
  async compose(text?: string): Promise<void> {
    await vscode.commands.executeCommand(`${Chat.id}.focus`);
    const asked: ToPage = { type: 'compose', focus: true, ...(text === undefined ? {} : { text }) };
    if (this.ready) {
      this.post(asked);
    } else {
      this.waiting.push(asked);
    }
  }

  post(message: ToPage): void {
    if (this.ready) {
      void this.view?.webview.postMessage(message);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private async said(said: FromPage): Promise<void> {
    if (said.type === 'ready') {
      this.ready = true;
      this.told = false;
      return this.everything();
    }
    await this.deeds?.handle(said);
  }

  private everything(): void {
    this.tellLink();
    this.post({ type: 'summaries', summaries: this.agent.summaries.all() });
    this.post({ type: 'chips', chips: this.attachments.titles() });
    this.news({ kind: 'attached', conversation: this.agent.follow.current });
    this.waiting.splice(0).forEach((message) => this.post(message));
  }

  /** What was being written in this conversation, when another one was in the page before. */
  private tellDraft(conversation: string | undefined): void {
    if (conversation !== this.drafted || !this.told) {
      this.drafted = conversation;
      this.told = this.ready;
      this.post({ type: 'draft', text: this.agent.memory.draft(conversation) });
    }
  }

  private tellLink(): void {
    const { state, sentence } = this.agent.link;
    const trusted = vscode.workspace.isTrusted;
    const { whileRunning } = settings();
    this.post({ type: 'link', state, trusted, folder: workspaces().length > 0, whileRunning, ...(sentence === undefined ? {} : { sentence }) });
  }

  private news(news: News): void {
    const id = this.agent.follow.current?.id ?? '';
    switch (news.kind) {
      case 'attached':
        return this.attached(news);
      case 'draft':
        return this.post({ type: 'draft', text: news.text });
      case 'older':
        return this.post({ type: 'older', page: news.page });
      case 'windows':
        return this.post({ type: 'windows', windows: news.windows });
      case 'events':
        return this.post({ type: 'events', conversationId: id, events: news.events });
      case 'streams':
        return this.post({ type: 'streams', conversationId: id, parts: news.parts });
    }
  }

  private attached({ conversation }: News & { kind: 'attached' }): void {
    this.tellDraft(conversation?.id);
    if (conversation === undefined) {
      return this.post({ type: 'none' });
    }
    this.post({ type: 'attached', answer: conversation.snapshot(AT_ONCE) });
    for (let end = conversation.items.length - AT_ONCE; end > 0; end -= PORTION) {
      this.post({ type: 'older', page: { items: conversation.items.slice(Math.max(0, end - PORTION), end) } });
    }
  }
}
