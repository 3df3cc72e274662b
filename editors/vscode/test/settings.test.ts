import assert from 'node:assert/strict';
import { test } from 'node:test';

import { resolved, type Settings } from '../src/core/settings';

const USUAL: Settings = {
  command: '', model: '', mode: '', whileRunning: 'queue', comments: true, approvalLenses: true, reviewLenses: true, statusBar: true,
};

test('settings that are not there, or of another type, count as none', () => {
  assert.deepEqual(resolved(() => undefined), USUAL);
  for (const wrong of [null, 7, 'nonsense', ['steer'], { mode: 'edits' }, NaN]) {
    const found = resolved((name) => (name === 'command' || name === 'model' ? (typeof wrong === 'string' ? undefined : wrong) : wrong));
    assert.deepEqual(found, USUAL, JSON.stringify(wrong));
  }
});

test('settings that were made count, a mode that no file may switch on does not', () => {
  const made: Record<string, unknown> = { command: ' ~/bin/agent-ls ', model: 'm', mode: 'edits', whileRunning: 'steer', 'approvals.comments': false, statusBar: false };
  assert.deepEqual(resolved((name) => made[name]), { ...USUAL, command: '~/bin/agent-ls', model: 'm', mode: 'edits', whileRunning: 'steer', comments: false, statusBar: false });
  assert.equal(resolved(() => 'auto').mode, '');
});
