// The extension's settings, read when they are needed.

import * as vscode from 'vscode';

import { resolved, type Settings } from './core/settings';

export const SECTION = 'agentLs';

export function settings(): Settings {
  const held = vscode.workspace.getConfiguration(SECTION);
  return resolved((name) => held.get<unknown>(name));
}
