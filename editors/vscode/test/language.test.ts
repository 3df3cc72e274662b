import assert from 'node:assert/strict';
import { test } from 'node:test';

import { QUESTIONS, hoverOf, placeOf, positionOf, remarks, symbolOf } from '../src/core/language';
import { secondsLeft, shownSeconds } from '../src/core/waits';

const AT = { start: { line: 1, character: 2 }, end: { line: 1, character: 5 } };

test('diagnostics are told as LSP counts them, without those of ours, and not without end', () => {
  const ours = { range: AT, severity: 1, message: 'approval', source: 'agent-ls' };
  assert.deepEqual(remarks([ours, { range: AT, severity: 0, message: 'x'.repeat(2000), source: 'mypy' }, { range: AT, severity: 3, message: 'h' }]), [
    { range: AT, severity: 1, message: 'x'.repeat(1000), source: 'mypy' },
    { range: AT, severity: 4, message: 'h' },
  ]);
  assert.equal(remarks(Array.from({ length: 500 }, () => ({ range: AT, severity: 0, message: 'x' }))).length, 200);
});

test('symbols and places of VS Code are those of LSP', () => {
  const uri = { toString: () => 'file:///a.py' };
  assert.deepEqual(symbolOf({ name: 'load', kind: 11, containerName: 'store', location: { uri, range: AT } }), {
    name: 'load', kind: 12, containerName: 'store', location: { uri: 'file:///a.py', range: AT },
  });
  assert.deepEqual(symbolOf({ name: 'A', kind: 4, containerName: '', range: AT, children: [{ name: 'f', kind: 5, range: AT, selectionRange: AT }] }), {
    name: 'A', kind: 5, range: AT, selectionRange: AT, children: [{ name: 'f', kind: 6, range: AT, selectionRange: AT, children: [] }],
  });
  const names = ['load(path: string)', 'main(String[]) : void', '(anonymous)', 'plain'].map((name) => symbolOf({ name, kind: 11 })['name']);
  assert.deepEqual(names, ['load', 'main', '(anonymous)', 'plain']);
  assert.equal(symbolOf({ name: 'x(1)', kind: 12 })['name'], 'x(1)');
  assert.deepEqual(placeOf({ targetUri: uri, targetRange: AT }), { uri: 'file:///a.py', range: AT });
  assert.deepEqual(hoverOf([{ contents: ['a', { value: 'b' }, ' '] }]), { contents: { kind: 'markdown', value: 'a\n\nb' } });
  assert.equal(hoverOf([]), null);
});

test('only questions are passed on, and only about places', () => {
  for (const method of ['workspace/executeCommand', 'textDocument/rename', 'textDocument/formatting', 'textDocument/codeAction', 'constructor']) {
    assert.equal(Object.hasOwn(QUESTIONS, method), false);
  }
  assert.deepEqual(positionOf({ position: { line: 3, character: 0 } }), { line: 3, character: 0 });
  for (const odd of [null, undefined, {}, { position: null }, { position: { line: -1, character: 0 } }, { position: { line: '1', character: 0 } }]) {
    assert.equal(positionOf(odd), undefined);
  }
});

test('a wait is never shown longer than it is, whatever the clock of the page says', () => {
  const wait = { since: '2026-01-01T00:00:00.000Z', until: '2026-01-01T00:00:08.000Z' };
  const left = (seconds: number): number => secondsLeft({ ...wait, now: Date.parse(wait.since) + 1000 * seconds });
  assert.deepEqual([left(0), left(2.5), left(9), left(-3600)], [8, 6, 0, 8]);
  assert.equal(secondsLeft({ since: '', until: 'soon', now: 0 }), 0);
  assert.deepEqual([9, 60, 125].map(shownSeconds), ['9 s', '1 min', '2 min 5 s']);
});
