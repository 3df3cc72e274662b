import assert from 'node:assert/strict';
import { test } from 'node:test';

import { candidates, type Places } from '../src/core/find';

const PLACES: Places = {
  setting: '', variable: '', path: ['/usr/bin', '.', '/home/me/project/bin'], trusted: true, folders: ['/home/me/project'],
  interpreter: '/home/me/env/bin/python', home: '/home/me',
};

test('a program is looked for on the PATH, in the workspace, at the interpreter, at home', () => {
  assert.deepEqual(candidates(PLACES), [
    { file: '/usr/bin/agent-ls', origin: 'path' },
    { file: '/home/me/project/bin/agent-ls', origin: 'path' },
    { file: '/home/me/project/.venv/bin/agent-ls', origin: 'venv' },
    { file: '/home/me/env/bin/agent-ls', origin: 'python' },
    { file: '/home/me/.local/bin/agent-ls', origin: 'home' },
  ]);
});

test('no program of a workspace that is not trusted is looked at', () => {
  assert.deepEqual(candidates({ ...PLACES, trusted: false }).map(({ file }) => file), ['/usr/bin/agent-ls', '/home/me/.local/bin/agent-ls']);
});

test('what the setting names is the only one', () => {
  assert.deepEqual(candidates({ ...PLACES, setting: '~/a', variable: '/x' }), [{ file: '/home/me/a', origin: 'setting' }]);
  assert.deepEqual(candidates({ ...PLACES, variable: '/x' })[0], { file: '/x', origin: 'variable' });
});

test('a setting may be a name on the PATH, or a place in a workspace that is trusted', () => {
  const files = (setting: string, trusted = true): string[] => candidates({ ...PLACES, setting, trusted }).map(({ file }) => file);
  assert.deepEqual(files('agent-ls-next'), ['/usr/bin/agent-ls-next', '/home/me/project/bin/agent-ls-next']);
  assert.deepEqual(files('agent-ls-next', false), ['/usr/bin/agent-ls-next']);
  for (const inside of ['./bin/agent-ls', 'bin/agent-ls', '${workspaceFolder}/bin/agent-ls']) {
    assert.deepEqual([files(inside), files(inside, false)], [['/home/me/project/bin/agent-ls'], []]);
  }
});
