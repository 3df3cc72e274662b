import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';

import { Memory } from '../src/memory';

test('drafts and the conversation outlive the window at once, and a broken file is as none', () => {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'als-')), 'state');
  try {
    const memory = new Memory(folder);
    memory.conversation = 'c1';
    memory.write('c1', 'half a thought');
    memory.write(undefined, 'new');
    memory.write('c2', 'x');
    memory.write('c2', '');
    const again = new Memory(folder);
    assert.deepEqual([again.conversation, again.draft('c1'), again.draft(undefined), again.draft('c2')], ['c1', 'half a thought', 'new', '']);
    assert.equal(again.beginning, false);
    again.conversation = undefined;
    const beginning = new Memory(folder);
    assert.deepEqual([beginning.conversation, beginning.beginning], [undefined, true]);
    writeFileSync(path.join(folder, 'window.json'), '{');
    const none = new Memory(folder);
    assert.deepEqual([none.conversation, none.beginning], [undefined, false]);
  } finally {
    rmSync(path.dirname(folder), { recursive: true });
  }
});

test('only the newest drafts are kept, and without a folder it still remembers', () => {
  const memory = new Memory(undefined);
  for (let number = 0; number < 80; number += 1) {
    memory.write(`c${number}`, 'x');
  }
  assert.deepEqual([memory.draft('c79'), memory.draft('c0')], ['x', '']);
});

test('two windows on one workspace keep each other’s drafts, and a file of somebody else’s making is as none', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'als-'));
  try {
    const [one, other] = [new Memory(folder), new Memory(folder)];
    one.write('c1', 'of the first');
    other.write('c2', 'of the second');
    other.conversation = 'c2';
    one.write('c1', 'of the first, longer');
    const again = new Memory(folder);
    assert.deepEqual([again.draft('c1'), again.draft('c2'), again.conversation], ['of the first, longer', 'of the second', 'c2']);
    assert.deepEqual([one.conversation, other.conversation], [undefined, 'c2']);
    writeFileSync(path.join(folder, 'window.json'), '{"conversation": 7, "drafts": {"c1": 7, "c2": "x"}}');
    const odd = new Memory(folder);
    assert.deepEqual([odd.conversation, odd.draft('c1'), odd.draft('c2')], [undefined, '', 'x']);
    writeFileSync(path.join(folder, 'window.json'), 'null');
    assert.equal(new Memory(folder).draft('c2'), '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
