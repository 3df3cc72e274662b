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
