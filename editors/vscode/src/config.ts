// The extension's settings, read when they are needed, with their types.

import * as vscode from 'vscode';

import type { Mode } from './protocol.gen';

export interface Settings {
  readonly command: string;
  readonly model: string;
  readonly mode: Mode | '';
  readonly whileRunning: 'queue' | 'steer';
  readonly comments: boolean;
  readonly approvalLenses: boolean;
  readonly reviewLenses: boolean;
  readonly statusBar: boolean;
}

export const SECTION = 'agentLs';

export function settings(): Settings {
  const held = vscode.workspace.getConfiguration(SECTION);
  return {
    command: held.get<string>('command', ''),
    model: held.get<string>('model', ''),
    mode: held.get<Mode | ''>('mode', ''),
    whileRunning: held.get<'queue' | 'steer'>('whileRunning', 'queue'),
    comments: held.get<boolean>('approvals.comments', true),
    approvalLenses: held.get<boolean>('approvals.codeLens', true),
    reviewLenses: held.get<boolean>('review.codeLens', true),
    statusBar: held.get<boolean>('statusBar', true),
  };
}
