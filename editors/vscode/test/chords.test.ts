import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Chords, type Key } from '../view/chords';

function key(name: string, timeStamp: number, held: Partial<Key> = {}): Key {
  return { key: name, ctrlKey: false, metaKey: false, altKey: false, timeStamp, ...held };
}

test('the second key of a chord writes nothing, every other one does', () => {
  const chords = new Chords();
  const begin = (at: number): boolean => chords.ends(key('a', at, { ctrlKey: true, altKey: true }));
  assert.deepEqual([begin(0), chords.ends(key('Control', 5)), chords.ends(key('w', 10)), chords.ends(key('w', 20))], [false, false, true, false]);
  assert.deepEqual([begin(100), chords.ends(key('a', 6000))], [false, false], 'too late');
  assert.deepEqual([chords.ends(key('k', 7000, { metaKey: true })), chords.ends(key('o', 7100))], [false, true]);
  assert.deepEqual([chords.ends(key('ą', 8000, { ctrlKey: true, altKey: true })), chords.ends(key('x', 8100))], [false, false]);
});
