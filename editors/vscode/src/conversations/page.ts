// The chat's page: a shell without a word of anybody's in it, and the policy that keeps it that way.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** Scripts and styles of ours only, pictures only as data, nothing from anywhere else. */
export function page(webview: vscode.Webview, root: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(root, 'dist', name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent</title>
<link rel="stylesheet" href="${at('codicon.css')}">
<link rel="stylesheet" href="${at('chat.css')}">
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${at('chat.js')}"></script>
</body>
</html>`;
}
