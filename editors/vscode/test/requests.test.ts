import assert from 'node:assert/strict';
import { test } from 'node:test';

import { request } from './made';
import { RequestBook, UNREAD_MS, guard, settled } from '../src/core/requests';

const shown = { digest: 'd1', shown: true };

test('an answer in the first moment is not taken, and the moment begins again when the card changes', () => {
  const book = new RequestBook();
  book.update({ pending: 1, requests: [request(1)] }, 1000);
  assert.deepEqual(guard(book.get('q1'), { ...shown, now: 1000 + UNREAD_MS - 1 }), { ok: false, why: 'unread' });
  assert.deepEqual(guard(book.get('q1'), { ...shown, now: 1000 + UNREAD_MS }), { ok: true });
  book.update({ pending: 1, requests: [request(1, { title: 'the same card' })] }, 5000);
  assert.deepEqual(guard(book.get('q1'), { ...shown, now: 5000 }), { ok: true });
  const changed = book.update({ pending: 1, requests: [request(1, { digest: 'new' })] }, 6000);
  assert.deepEqual(changed.changed.map(({ request: { id } }) => id), ['q1']);
  assert.deepEqual(guard(book.get('q1'), { ...shown, digest: 'new', now: 6100 }), { ok: false, why: 'unread' });
});

test('an answer to what is no longer shown, to what was never shown and to what is gone is not taken', () => {
  const book = new RequestBook();
  book.update({ pending: 1, requests: [request(1)] }, 0);
  assert.deepEqual(guard(book.get('q1'), { digest: 'older', shown: true, now: 9999 }), { ok: false, why: 'unread' });
  assert.deepEqual(guard(book.get('q1'), { digest: 'd1', shown: false, now: 9999 }), { ok: false, why: 'unseen' });
  assert.deepEqual(book.update({ pending: 0, requests: [] }, 9999).gone.map(({ request: { id } }) => id), ['q1']);
  assert.deepEqual(guard(book.get('q1'), { ...shown, now: 9999 }), { ok: false, why: 'gone' });
});

test('next and previous go round in the order of numbers', () => {
  const book = new RequestBook();
  assert.equal(book.beside(undefined, 1), undefined);
  book.update({ pending: 9, requests: [request(7), request(2), request(5)] }, 0);
  const numbers = (step: 1 | -1): (number | undefined)[] => [undefined, 2, 5, 6, 7].map((from) => book.beside(from, step)?.request.number);
  assert.deepEqual(numbers(1), [2, 5, 7, 7, 2]);
  assert.deepEqual(numbers(-1), [7, 7, 2, 5, 5]);
});

test('who settled a request is told in words', () => {
  assert.deepEqual(
    [
      request(1, { status: 'resolved', decision: 'allow', decidedBy: 'ada', decidedFrom: 'neovim' }),
      request(1, { status: 'resolved', decision: 'deny', decidedBy: 'ada' }),
      request(1, { status: 'cancelled' }),
      request(1, { status: 'expired' }),
    ].map(settled),
    ['allowed by ada in neovim', 'denied by ada', 'cancelled', 'expired'],
  );
});
