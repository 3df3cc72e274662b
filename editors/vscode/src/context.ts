// The one object that is passed down: what every part of the extension may use of the others.

import type * as vscode from 'vscode';

import type { Answers } from './approvals/answers';
import type { Link } from './client';
import type { Follow } from './conversations/follow';
import type { Summaries } from './conversations/summaries';
import type { RequestBook } from './core/requests';
import type { Memory } from './memory';
import type { Papers } from './papers';
import type { Changes } from './review/changes';
import type { Voice } from './voice';

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
  readonly memory: Memory;
  readonly voice: Voice;
}
