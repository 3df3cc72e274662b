// What the extension says to the person: never a question, never a button, never the focus.

import * as vscode from 'vscode';

import type { Answer, Trouble } from './client';
import { unadorned } from './core/display';

const SAID_MS = 6000;

export class Voice implements vscode.Disposable {
  private readonly heard = new vscode.EventEmitter<string>();
  readonly onSaid = this.heard.event;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** A sentence that nobody has to answer: in the status bar, and in the chat. */
  say(sentence: string): void {
    vscode.window.setStatusBarMessage(unadorned(sentence), SAID_MS);
    this.log.info(sentence);
    this.heard.fire(sentence);
  }

  /** What a person asked for did not work. */
  trouble({ sentence }: Trouble): void {
    this.log.warn(sentence);
    this.heard.fire(sentence);
    void vscode.window.showWarningMessage(unadorned(sentence));
  }

  /** The result of what a person asked for; trouble is told to them. */
  async told<T>(asked: Promise<Answer<T>>): Promise<T | undefined> {
    const answer = await asked;
    if (!answer.ok) {
      this.trouble(answer.trouble);
    }
    return answer.ok ? answer.value : undefined;
  }

  dispose(): void {
    this.heard.dispose();
  }
}
