// Text shown in an editor of its own and changed by nobody: a whole command, a long output, the log.
//
// Owns such texts for as long as the window lives, the newest ones only. Does not own what is in them.

import * as vscode from 'vscode';

const SCHEME = 'agentls';
const MOST = 40;

export class Papers implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  // VS Code listens to it from the moment of registering, so it has to be there by then.
  readonly onDidChange = this.changed.event;
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  /** The address of a text; put there again it replaces the old one. */
  put(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    const known = this.texts.delete(uri.toString());
    this.texts.set(uri.toString(), text);
    if (known) {
      this.changed.fire(uri);
    }
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= MOST) {
        break;
      }
      this.texts.delete(oldest);
    }
    return uri;
  }

  async show(name: string, text: string, language?: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.put(name, text));
    if (language !== undefined) {
      await vscode.languages.setTextDocumentLanguage(document, language);
    }
    await vscode.window.showTextDocument(document, { preview: true });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? 'This text is no longer kept; open it again from where you came.';
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }
}
