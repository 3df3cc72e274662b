import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beside } from '../src/core/labels';

test('a card says where else a command would run, how it failed in the sandbox, and what its words lead to', () => {
  assert.deepEqual(beside({ command: 'ls' }), []);
  assert.deepEqual(
    beside({ background: true, outside: true, failed: 'It failed\nthere.', output: 'a: no\u001b[2K\nb', targets: { link: '/etc/\u202ex' } }),
    [
      'in the background: it goes on when the run has ended',
      'outside the sandbox',
      'It failed there.',
      '  a: no⟨U+001B⟩[2K',
      '  b',
      'link is /etc/⟨U+202E⟩x',
    ],
  );
});
