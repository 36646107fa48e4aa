import { expect, test } from '@jest/globals';
import { withParts } from './markdown.ts';
import { withMetrics } from './metrics.ts';
import { references } from './references.ts';

test('generated lists are as the code has them (npm run references writes them)', async () => {
  for (const { path, is, should } of await references('.'))
    expect(`${path}\n${is}`).toBe(`${path}\n${should}`);
});

test('a part without a place, or a place without a part, is a fault', () => {
  const document = 'Before\n\n<!-- generated: a -->\n\nold\n\n<!-- end -->\n\nAfter\n';
  expect(withParts(document, { a: 'new' })).toBe(document.replace('old', 'new'));
  expect(() => withParts(document, {})).toThrow('places');
  expect(() => withParts(document, { a: 'new', b: 'more' })).toThrow('places');
});

test('a metric without a row, or a row without a metric, is a fault', () => {
  const head = '| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n';
  const document = `## auth\n\n${head}| \`tollgate_a\` | | | old |\n`;
  const a = { name: 'tollgate_a', help: 'New', type: 'counter', labelNames: ['error'] };
  expect(withMetrics(document, { auth: [a] })).toMatch(/^\| `tollgate_a` \| counter \| `error` \| New +\|$/m);
  expect(() => withMetrics(document, { auth: [] })).toThrow('tollgate_a');
  expect(() => withMetrics(document, { auth: [a, { ...a, name: 'tollgate_b' }] })).toThrow('tollgate_b');
});
