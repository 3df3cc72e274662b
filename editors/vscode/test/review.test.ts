import assert from 'node:assert/strict';
import { test } from 'node:test';

import { before, hunkAt, linesOf, open, weight } from '../src/core/review';
import type { FileReview, ReviewHunk } from '../src/protocol.gen';

function hunk(id: string, line: number, [old, fresh]: [string, string], state: ReviewHunk['state'] = 'open'): ReviewHunk {
  const end = line + fresh.split('\n').length - 1;
  return { id, range: { start: { line, character: 0 }, end: { line: end, character: 0 } }, old, new: fresh, state, itemId: 'i', runId: 'r' };
}

function file(...hunks: ReviewHunk[]): FileReview {
  return { uri: 'file:///a', path: 'a', hash: '', hunks };
}

test('open hunks are taken back, kept ones stay, and one that is not there is left alone', () => {
  const now = 'A\nb\nC\nd\nnew\n';
  const changes = file(hunk('3', 4, ['', 'new\n']), hunk('1', 0, ['a\n', 'A\n']), hunk('2', 2, ['c\n', 'C\n'], 'kept'));
  assert.deepEqual(open(changes).map(({ id }) => id), ['1', '3']);
  assert.equal(before(now, changes), 'a\nb\nC\nd\n');
  assert.equal(before('other\n', changes), 'other\n');
});

test('the hunk at a line, the nearest one, the next one', () => {
  const changes = file(hunk('1', 2, ['x\n', 'y\n']), hunk('2', 10, ['', 'a\nb\n']));
  assert.deepEqual([0, 2, 5, 9, 11].map((line) => hunkAt(changes, line)?.id), ['1', '1', '1', '2', '2']);
  assert.deepEqual([0, 2, 10].map((line) => hunkAt(changes, line, 1)?.id), ['1', '2', '1']);
  assert.deepEqual([0, 3, 11].map((line) => hunkAt(changes, line, -1)?.id), ['2', '1', '2']);
  assert.deepEqual(linesOf(hunk('2', 10, ['', 'a\nb\n'])), { first: 10, last: 11 });
  assert.equal(weight(hunk('1', 2, ['x\ny\n', 'z'])), '+1 -2');
});
