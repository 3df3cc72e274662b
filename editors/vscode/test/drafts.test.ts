import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Drafts } from '../src/conversations/drafts';
import { Memory } from '../src/memory';

function window(away = false): { drafts: Drafts; memory: Memory; told: unknown[]; changed: string[]; hear: (conversationId: string, text: string) => void } {
  const told: unknown[] = [];
  const changed: string[] = [];
  const memory = new Memory(undefined);
  let heard: (params: { conversationId: string; text: string }) => void = () => undefined;
  const link = {
    on: (_: string, listener: typeof heard) => {
      heard = listener;
    },
    tell: (_: string, params: unknown) => told.push(params),
  };
  const drafts = new Drafts(link as never, memory, () => away, (id) => changed.push(`${id}: ${memory.draft(id)}`));
  return { drafts, memory, told, changed, hear: (conversationId, text) => heard({ conversationId, text }) };
}

test('what is written here is told, and what is written elsewhere comes here as long as nothing is written here', () => {
  const { drafts, memory, told, changed, hear } = window();
  drafts.write(undefined, 'new');
  drafts.take('c1', 'from a window that is gone');
  hear('c1', 'and on in another one');
  hear('c1', 'and on in another one');
  assert.deepEqual(changed, ['c1: from a window that is gone', 'c1: and on in another one']);
  assert.deepEqual(told, []);
  drafts.write('c1', 'and on in another one, then here');
  hear('c1', 'something else');
  assert.equal(memory.draft('c1'), 'and on in another one, then here');
  assert.deepEqual(told, [{ conversationId: 'c1', text: 'and on in another one, then here' }]);
});

test('what was written here gives way to what is written while the person is elsewhere', () => {
  const { drafts, memory, changed, hear } = window(true);
  drafts.write('c1', 'begun here');
  hear('c1', 'begun here and gone on');
  assert.deepEqual([memory.draft('c1'), changed], ['begun here and gone on', ['c1: begun here and gone on']]);
});

test('what was sent elsewhere goes, and what was written without a daemon stays', () => {
  const { drafts, memory, hear } = window();
  drafts.take('c1', 'half');
  hear('c1', '');
  assert.equal(memory.draft('c1'), '');
  drafts.write('c1', 'mine');
  drafts.take('c1', '');
  assert.equal(memory.draft('c1'), 'mine');
});
