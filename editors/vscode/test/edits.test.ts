import assert from 'node:assert/strict';
import { test } from 'node:test';

import { request } from './made';
import { applied, draftOf, editable, oneEdit } from '../src/core/edits';

const BEFORE = 'one\ntwo\nthree\ntwo\n';

test('one edit makes the new text of the old one, and its place is unique', () => {
  for (const after of ['one\nTWO\nthree\ntwo\n', 'one\ntwo\nthree\nTWO\n', '', 'zero\n' + BEFORE, BEFORE + 'four', 'one\ntwo\ntwo\n', 'x']) {
    const edit = oneEdit(BEFORE, after);
    assert.ok(edit !== undefined);
    assert.equal(BEFORE.split(edit.old).length, 2, `${edit.old} is unique`);
    assert.equal(applied(BEFORE, [edit]), after);
  }
  assert.equal(oneEdit(BEFORE, BEFORE), undefined);
});

test('edits that fit no more, or fit twice, make no text', () => {
  assert.equal(applied('a b', [{ old: 'c', new: 'd' }]), undefined);
  assert.equal(applied('a a', [{ old: 'a', new: 'b' }]), undefined);
  assert.equal(applied('a a', [{ old: 'a', new: 'b', all: true }]), 'b b');
});

test('a command, a change, a new file, a plan and anything else can be edited, and become an input again', () => {
  const command = draftOf(request(1, { input: { command: 'rm a', timeout: 3 } }), undefined);
  assert.deepEqual([command.text, command.input('rm b\n')], ['rm a', { command: 'rm b', timeout: 3 }]);
  assert.deepEqual(command.input('  '), { trouble: 'The command is empty.' });

  const edit = draftOf(request(1, { input: { path: 'a', edits: [{ old: 'three', new: '3' }] } }), BEFORE);
  assert.deepEqual([edit.kind, edit.text], ['file', 'one\ntwo\n3\ntwo\n']);
  assert.deepEqual(edit.input('one\ntwo\nIII\ntwo\n'), { path: 'a', edits: [{ old: 'three\n', new: 'III\n' }] });
  assert.ok('trouble' in edit.input(BEFORE));

  const write = draftOf(request(1, { input: { path: 'a', content: 'x' } }), undefined);
  assert.deepEqual(write.input('y'), { path: 'a', content: 'y' });

  const plan = draftOf(request(1, { kind: 'plan', input: { markdown: '# Plan' } }), undefined);
  assert.deepEqual(plan.input('# Other'), { markdown: '# Other' });

  const other = draftOf(request(1, { input: { url: 'x' } }), undefined);
  assert.deepEqual(other.input('{"url": "y"}'), { url: 'y' });
  assert.ok('trouble' in other.input('{'));
  assert.equal(editable(request(1, { kind: 'question', input: { url: 'x' } })), false);
});
