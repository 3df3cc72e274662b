import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VNode } from 'preact';

import { request } from './made';
import { Heights } from '../view/heights';
import { blocksOf as cut, elementsOf } from '../view/markdown';
import { answersOf, askedOf } from '../view/questions';
import { blocksOf, commandOf, wordAt } from '../view/words';

/** What an element would be in the page: its tag, its attributes, its text. */
function drawn(node: unknown): unknown {
  if (Array.isArray(node)) {
    return node.map(drawn).flat();
  }
  if (typeof node !== 'object' || node === null) {
    return node;
  }
  const { type, props } = node as VNode<Record<string, unknown>>;
  if (typeof type === 'function') {
    const made = (type as (props: unknown) => unknown)(props);
    return type.name === 'Fragment' ? drawn(props['children']) : drawn(made);
  }
  const attributes = Object.fromEntries(Object.entries(props).filter(([name]) => name !== 'children' && name !== 'onClick'));
  return [type, ...(Object.keys(attributes).length === 0 ? [] : [attributes]), ...[drawn(props['children'] ?? [])].flat()].filter((part) => part !== '');
}

test('markdown becomes elements; HTML in it stays text', () => {
  assert.deepEqual(drawn(elementsOf('**a** <img src=x onerror=alert(1)> `b`')), ['p', 'strong', 'a', ' <img src=x onerror=alert(1)> ', 'code', 'b'].flat());
  assert.ok(!JSON.stringify(drawn(elementsOf('<script>alert(1)</script>\n\n<b>x</b>'))).includes('"script"'));
});

test('a link is a button without an address, a picture is its name', () => {
  const link = JSON.stringify(drawn(elementsOf('[go](command:workbench.action.quit) ![cat](https://example.org/cat.png)')));
  assert.ok(link.includes('"button"') && !link.includes('href') && !link.includes('src'), link);
});

test('text is cut where a block begins for certain, never inside of code or a list', () => {
  const text = 'a\n\nb\n\n```\nx\n\ny\n```\n\n- 1\n\n- 2\n\n  more\n\nend\n';
  assert.deepEqual(cut(text), ['a\n\n', 'b\n\n', '```\nx\n\ny\n```\n\n- 1\n\n- 2\n\n  more\n\n', 'end\n']);
  assert.equal(cut(text).join(''), text);
  assert.equal(cut('x'.repeat(1000)).length, 1);
});

test('rows on the screen are found by their heights, measured or guessed', () => {
  const heights = new Heights();
  const keys = ['a', 'b', 'c', 'd'];
  heights.arrange(keys, () => 10);
  assert.deepEqual([heights.total, heights.range(0, 10, 0), heights.range(15, 10, 0)], [40, { first: 0, end: 2 }, { first: 1, end: 3 }]);
  assert.equal(heights.measured('a', 100), true);
  assert.equal(heights.measured('a', 100), false);
  heights.arrange(keys, () => 10);
  assert.deepEqual([heights.total, heights.top(1), heights.at(99), heights.at(100), heights.at(9999)], [130, 100, 0, 1, 3]);
  assert.deepEqual(new Heights().range(0, 100, 0), { first: 0, end: 0 });
});

test('the word beneath the cursor is a file or a command', () => {
  assert.deepEqual(wordAt('see @src/a', 10), { kind: 'file', text: 'src/a', from: 4 });
  assert.deepEqual(wordAt('/mo', 3), { kind: 'command', text: 'mo', from: 0 });
  assert.deepEqual([wordAt('me@example', 10), wordAt('a /mo', 5), wordAt('@a b', 4)], [undefined, undefined, undefined]);
  assert.deepEqual(commandOf('/compact keep the plan'), { name: 'compact', argument: 'keep the plan' });
  assert.equal(commandOf('/usr/bin is a path'), undefined);
});

test('files that the message names go with it, others do not', () => {
  const files = new Map([['a.py', 'file:///a.py'], ['b.py', 'file:///b.py']]);
  assert.deepEqual(blocksOf(' look at @a.py, and a@b.python ', files, []), [
    { type: 'text', text: 'look at @a.py, and a@b.python' },
    { type: 'file', uri: 'file:///a.py' },
  ]);
});

test('questions are answered together: one choice, several, words of one’s own', () => {
  const asked = askedOf(request(1, {
    kind: 'question',
    questions: [
      { id: 'style', text: 'Tabs?', options: [{ id: 'a', label: 'Tabs' }, { id: 'b', label: 'Spaces' }] },
      { id: 'files', text: 'Which?', multi: true, free: true, options: [{ id: 'x', label: 'X' }] },
      { id: 'name', text: 'Name?' },
    ],
  }));
  assert.equal(answersOf(asked, { style: ['b'] }, { name: 'n' }), undefined);
  assert.deepEqual(answersOf(asked, { style: ['b'], files: ['x'] }, { files: 'own', name: ' n ' }), { style: 'b', files: ['x', 'own'], name: 'n' });
});
