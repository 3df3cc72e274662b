// The one object that is passed down: what every part of the extension may use of the others.

import type * as vscode from 'vscode';

import type { Answers } from './approvals/answers';
import type { Link, Trouble } from './client';
import type { Follow } from './conversations/follow';
import type { Summaries } from './conversations/summaries';
import type { RequestBook } from './core/requests';
import type { Papers } from './papers';
import type { Changes } from './review/changes';

export interface Agent {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly link: Link;
  readonly book: RequestBook;
  /** Fires after the book has changed. */
  readonly onRequests: vscode.Event<void>;
  readonly summaries: Summaries;
  readonly follow: Follow;
  readonly answers: Answers;
  readonly changes: Changes;
  readonly papers: Papers;
  /** A sentence that nobody has to answer: in the status bar, and in the chat. */
  say(sentence: string): void;
  /** What a person asked for did not work. */
  trouble(trouble: Trouble): void;
}
