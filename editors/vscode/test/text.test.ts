import assert from 'node:assert/strict';
import { test } from 'node:test';

import { count, firstChange, lines, located } from '../src/core/diff';
import { escaped, hidden, named, oneLine, unadorned, warning } from '../src/core/display';
import { linkOf } from '../src/core/links';

const DIFF = '--- a/hello.py\n+++ b/hello.py\n@@ -2,3 +2,4 @@ def f():\n a\n-b\n+B\n+B2\n c\n';

test('what would not be seen is shown by its name', () => {
  assert.equal(named('a\u202eb\u200bc\u001b[31m\td\n'), 'a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[31m\td\n');
  assert.equal(named('\u00a0\u3164\ufe0f'), '⟨U+00A0⟩⟨U+3164⟩⟨U+FE0F⟩');
  assert.equal(named('straße 漢字 🙂'), 'straße 漢字 🙂');
  assert.equal(escaped(`rm${' '.repeat(20)}x`), 'rm ⟨20 spaces⟩ x');
  assert.deepEqual(hidden('\u202e\u202e\u200b'), ['⟨U+202E⟩', '⟨U+200B⟩']);
  assert.equal(warning('plain'), undefined);
});

test('neither icons nor links are made of text of others', () => {
  assert.equal(unadorned('$(check) [yes](command:x)'), '$ (check) [yes] (command:x)');
});

test('a long title keeps its end', () => {
  const title = oneLine(`${'x'.repeat(300)}; rm -rf ~`);
  assert.ok(title.endsWith('; rm -rf ~'));
  assert.ok(title.includes('more…'));
});

test('a diff says where it changes and how much', () => {
  assert.deepEqual(lines(DIFF).map(({ kind }) => kind), ['hunk', 'same', 'delete', 'add', 'add', 'same']);
  assert.deepEqual(firstChange(DIFF), { first: 2, last: 2 });
  assert.deepEqual(count(DIFF), { added: 2, removed: 1 });
  assert.deepEqual(firstChange('--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n'), { first: 0, last: 0 });
});

test('lines of a change that look like names of files are lines of the change', () => {
  assert.deepEqual(lines('@@ -1 +1 @@\n--- x\n+++ y\n').map(({ kind }) => kind), ['hunk', 'delete', 'add']);
});

test('a change is found again after lines came above it, and stays where it was said when it is not there', () => {
  assert.deepEqual(located('x\na\nb\nc\n', DIFF), { first: 2, last: 2 });
  assert.deepEqual(located('x\ny\nz\na\nb\nc\n', DIFF), { first: 4, last: 4 });
  assert.deepEqual(located('other\n', DIFF), { first: 2, last: 2 });
});

test('links lead to the web and to files, and nowhere else', () => {
  assert.deepEqual(linkOf('https://example.org/a'), { kind: 'web', href: 'https://example.org/a' });
  assert.deepEqual(linkOf('src/a.py:12'), { kind: 'file', path: 'src/a.py', line: 12 });
  assert.deepEqual(linkOf('src/a%20b.py#L3-L9'), { kind: 'file', path: 'src/a b.py', line: 3 });
  assert.deepEqual(linkOf('file:///home/me/x'), { kind: 'file', path: '/home/me/x', line: undefined });
  const dead = [
    'command:workbench.action.quit', ' COMMAND:x', 'vscode://x/y', 'javascript:alert(1)', 'data:text/html,x', '//host/share', 'https:///',
    'file://host/share', 'command%3Ax', 'https://a\u202eb/', '%', '#top', '',
  ];
  assert.deepEqual(dead.map(linkOf), dead.map(() => undefined));
});
