import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ABOUT, attached, event, item, request, run } from './made';
import { Conversation } from '../src/core/conversation';
import { merged } from '../src/conversations/merge';

test('items keep the order of the transcript, whatever order they come in', () => {
  const conversation = new Conversation(attached({ items: [item(5), item(6)], olderCursor: 'x' }));
  conversation.older({ items: [item(1), item(3)] });
  conversation.events([event(item(7), 'item', 1), event(item(4), 'item', 2), event(item(3, { payload: { text: 'again' } }), 'item', 3)]);
  assert.deepEqual(conversation.items.map(({ ord }) => ord), [1, 3, 4, 5, 6, 7]);
  assert.deepEqual(conversation.items[1]?.payload, { text: 'again' });
  assert.equal(conversation.olderCursor, undefined);
});

test('an event that came already changes nothing, and one that is missing is told', () => {
  const conversation = new Conversation(attached({ seq: 4 }));
  assert.equal(conversation.events([event(item(1), 'item', 4), event(item(2), 'item', 5)]), 'whole');
  assert.deepEqual(conversation.items.map(({ id }) => id), ['i2']);
  assert.equal(conversation.events([event(item(3), 'item', 7)]), 'gap');
  assert.equal(conversation.seq, 5);
});

test('text in flight is superseded by the item that is committed', () => {
  const conversation = new Conversation(attached());
  conversation.stream({ conversationId: 'c1', itemId: 'i1', cursor: 3, phase: 'thinking', delta: 'Let' });
  conversation.stream({ conversationId: 'c1', itemId: 'i1', cursor: 6, phase: 'answering', delta: ' me' });
  assert.deepEqual(conversation.flights.get('i1'), { itemId: 'i1', text: 'Let me', output: '', phase: 'answering' });
  conversation.events([event(item(1), 'item', 1)]);
  assert.equal(conversation.flights.size, 0);
  assert.equal(conversation.stream({ conversationId: 'c1', itemId: 'i1', cursor: 9, delta: 'late' }), false);
  assert.equal(conversation.flights.size, 0);
});

test('text in flight that no step committed is void once the attempt moves on', () => {
  const conversation = new Conversation(attached({ run: run(1) }));
  conversation.stream({ conversationId: 'c1', itemId: 'lost', cursor: 1, delta: 'x' });
  conversation.events([event(run(1, { status: 'failed' }), 'run', 1)]);
  assert.equal(conversation.flights.size, 0);
  assert.equal(conversation.run, undefined);
});

test('the queue is in the order of its places, and a run that begins leaves it', () => {
  const conversation = new Conversation(attached({ run: run(1) }));
  conversation.events([
    event(run(2, { status: 'queued', position: 2 }), 'run', 1),
    event(run(3, { status: 'queued', position: 1 }), 'run', 2),
  ]);
  assert.deepEqual(conversation.queue.map(({ id }) => id), ['r3', 'r2']);
  conversation.events([event(run(1, { status: 'completed' }), 'run', 3), event(run(3, { status: 'starting' }), 'run', 4)]);
  assert.deepEqual(conversation.queue.map(({ id }) => id), ['r2']);
  assert.equal(conversation.run?.id, 'r3');
});

test('the status follows from the run, its stop and what waits', () => {
  const conversation = new Conversation(attached());
  const statuses = [conversation.status];
  for (const [entity, kind] of [
    [run(2, { status: 'queued' }), 'run'],
    [run(2), 'run'],
    [request(1), 'request'],
    [request(1, { status: 'resolved' }), 'request'],
    [run(2, { interrupt: { by: 'ada', from: 'neovim', at: '' } }), 'run'],
    [run(2, { status: 'interrupted' }), 'run'],
  ] as const) {
    conversation.events([event(entity, kind, conversation.seq + 1)]);
    statuses.push(conversation.status);
  }
  assert.deepEqual(statuses, ['idle', 'queued', 'running', 'waiting', 'running', 'stopping', 'idle']);
});

test('a snapshot makes the same conversation anew', () => {
  const conversation = new Conversation(attached({ items: [item(1), item(2)], run: run(1), requests: [request(1)], seq: 9 }));
  conversation.stream({ conversationId: 'c1', itemId: 'i3', cursor: 2, delta: 'hi' });
  const again = new Conversation(conversation.snapshot());
  assert.deepEqual(again, conversation);
  assert.deepEqual(conversation.snapshot(1).items.map(({ id }) => id), ['i2']);
});

test('an attach that goes on keeps what is known', () => {
  const conversation = new Conversation(attached({ items: [item(1)], seq: 3 }));
  conversation.attached(attached({ snapshot: false, seq: 3, conversation: { ...ABOUT, title: 'Other' } }));
  assert.deepEqual(conversation.items.map(({ id }) => id), ['i1']);
  assert.equal(conversation.about.title, 'Other');
});

test('parts of one stream go on as one, another stream or a fresh text does not', () => {
  const part = { conversationId: 'c1', cursor: 1, phase: 'answering' } as const;
  assert.deepEqual(
    merged([
      { ...part, itemId: 'a', delta: 'x' },
      { ...part, itemId: 'a', cursor: 2, delta: 'y' },
      { ...part, itemId: 'b', output: '1' },
      { ...part, itemId: 'b', output: '2' },
      { ...part, itemId: 'b', text: 'all' },
    ]),
    [
      { ...part, itemId: 'a', cursor: 2, delta: 'xy' },
      { ...part, itemId: 'b', output: '12' },
      { ...part, itemId: 'b', text: 'all' },
    ],
  );
});

test('what failed or was stopped can be asked again until something else was said', () => {
  const error = item(2, { kind: 'error', payload: { code: 'provider_error', message: 'no' } });
  const [asked, partial] = [item(1, { kind: 'user_message', payload: { content: [] } }), item(3, { status: 'interrupted' })];
  const of = (...items: ReturnType<typeof item>[]): string | undefined => new Conversation(attached({ items })).failure?.id;
  assert.deepEqual([of(), of(asked), of(asked, error), of(asked, error, partial)], [undefined, undefined, 'i2', 'i2']);
  assert.deepEqual([of(asked, error, item(4)), of(error, item(5, { kind: 'user_message', payload: { content: [] } }))], [undefined, undefined]);
  assert.equal(of(asked, item(2, { kind: 'interrupt', payload: { by: 'ada' } })), 'i2');
  assert.equal(new Conversation(attached({ items: [asked, error], run: run(2) })).failure, undefined);
});
