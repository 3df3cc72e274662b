// The answers to an approval as code lenses above the lines that it would change.

import * as vscode from 'vscode';

import { changeOf } from './card';
import { settings } from '../config';
import type { Agent } from '../context';
import { located } from '../core/diff';
import { editable } from '../core/edits';

export class ApprovalLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly agent: Agent) {
    this.subscriptions = [
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      agent.onRequests(() => this.changed.fire()),
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const held = settings().approvalLenses ? this.agent.book.all() : [];
    return held.flatMap(({ request }) => {
      const changed = changeOf(request, document.uri);
      if (changed === undefined) {
        return [];
      }
      const line = Math.min(located(document.getText(), changed.diff).first, document.lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      const shown = { id: request.id, digest: request.digest };
      const lens = (title: string, verb: string, tooltip: string): vscode.CodeLens =>
        new vscode.CodeLens(range, { title, tooltip, command: `agentLs.approvals.${verb}`, arguments: [shown] });
      return [
        lens(`$(check) Allow #${request.number}`, 'allowOnce', 'Allow this change once'),
        lens('$(close) Deny…', 'deny', 'Deny it, with a reason for the agent'),
        ...(editable(request) ? [lens('$(edit) Edit…', 'editAndAllow', 'Change what it would write, then allow it')] : []),
        lens('$(diff) Show', 'details', 'Show all of it as a diff'),
      ];
    });
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changed.dispose();
  }
}
