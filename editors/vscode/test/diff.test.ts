import assert from 'node:assert/strict';
import { test } from 'node:test';

import { request } from './made';
import { count, firstChange, lines, perFile } from '../src/core/diff';
import { askedFor, beside } from '../src/core/labels';

const TWO = '--- a/one.py\n+++ b/one.py\n@@ -1,2 +1,2 @@\n a\n--- x\n+++ y\n--- a/two.py\n+++ b/2.py\n@@ -4 +4 @@\n-b\n+B\n\\ No newline at end of file\n';
const THREE = `${TWO}--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n--- /dev/null\n+++ b/empty.py\n\\ A new, empty file.\n`;

test('a diff over several files names each, and what looks like a name inside of a hunk is a line of it', () => {
  assert.deepEqual(lines(TWO).map(({ kind, text }) => `${kind} ${text}`), [
    'file one.py', 'hunk @@ -1,2 +1,2 @@', 'same  a', 'delete --- x', 'add +++ y',
    'file two.py → 2.py', 'hunk @@ -4 +4 @@', 'delete -b', 'add +B', 'same \\ No newline at end of file',
  ]);
  assert.deepEqual(count(TWO), { added: 2, removed: 2 });
  assert.deepEqual(firstChange(TWO), { first: 1, last: 1 });
});

test('it is cut into one for each file, and nothing of it is lost', () => {
  assert.deepEqual(perFile(THREE).map((part) => part.split('\n')[1]), ['+++ b/one.py', '+++ b/2.py', '+++ /dev/null', '+++ b/empty.py']);
  assert.equal(perFile(THREE).join(''), THREE);
  assert.deepEqual(lines(THREE).filter(({ kind }) => kind === 'file').map(({ text }) => text), ['one.py', 'two.py → 2.py', 'gone.py (removed)', 'empty.py']);
});

test('what the words of a command do not say is said beside it', () => {
  const card = { type: 'command', command: './run', background: true, outside: true, targets: { './run': '/etc/x\u202e' }, environment: { A: 'b', PATH: null } };
  assert.deepEqual(beside(card), [
    'in the background: it goes on when the run has ended', 'outside the sandbox', './run is /etc/x⟨U+202E⟩', 'with A=b', 'without PATH',
  ]);
  assert.deepEqual(beside({ targets: 'odd', environment: null }), []);
  assert.equal(askedFor(request(1)), undefined);
  assert.equal(askedFor(request(1, { origin: { conversationIds: ['c1'], task: 'Look\nit up' } })), 'asked by the subagent for: Look⏎it up');
});
