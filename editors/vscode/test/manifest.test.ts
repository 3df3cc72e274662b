import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

interface Setting {
  readonly scope?: string;
  readonly description?: string;
  readonly markdownDescription?: string;
}

interface Manifest {
  readonly extensionKind: readonly string[];
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category?: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string; readonly mac?: string; readonly when?: string }[];
    readonly menus: Record<string, readonly { readonly command: string; readonly when?: string }[]>;
    readonly configuration: { readonly properties: Record<string, Setting> };
  };
}

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const { commands, keybindings, menus, configuration } = MANIFEST.contributes;
const SOURCE = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(path.join('src', name), 'utf8'))
  .join('\n');

test('every command is there, has a title in the palette’s group, and is one that menus and keys name', () => {
  const known = new Set(commands.map(({ command }) => command));
  assert.equal(known.size, commands.length);
  for (const { command, title, category } of commands) {
    const name = command.split('.').at(-1) ?? '';
    assert.ok(title !== '' && category === 'Agent', command);
    assert.ok(SOURCE.includes(`'${command.slice('agentLs.'.length)}'`) || SOURCE.includes(`'${command}'`) || SOURCE.includes(`'${name}'`), `${command} is registered`);
  }
  for (const { command } of [...keybindings, ...Object.values(menus).flat()]) {
    assert.ok(known.has(command), command);
  }
});

test('every key is a chord of its own, on a Mac too', () => {
  const keys = keybindings.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  for (const { key, mac } of keybindings) {
    assert.match(key, /^ctrl\+alt\+a [a-z]$/);
    assert.equal(mac, key.replace('ctrl', 'cmd'));
  }
});

test('every setting is described, and what frees the agent or starts a program is no workspace’s to set', () => {
  for (const [name, { description, markdownDescription }] of Object.entries(configuration.properties)) {
    assert.ok((description ?? markdownDescription ?? '') !== '', name);
  }
  const scopes = ['command', 'model', 'mode'].map((name) => configuration.properties[`agentLs.${name}`]?.scope);
  // The program of a workspace that is trusted may be its own; capabilities.untrustedWorkspaces restricts it elsewhere.
  assert.deepEqual(scopes, ['machine-overridable', 'machine', 'machine']);
  assert.deepEqual(MANIFEST.extensionKind, ['workspace']);
});
