import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { CALL_CODES, isAnswered } from '../../packages/contracts/src/call-codes.ts';
import { withParts } from './markdown.ts';
import { withMetrics } from './metrics.ts';
import { references } from './references.ts';
import { settingTables } from './settings.ts';

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

test('the book for customers has a section of each code of a refusal, to which the web interface links', () => {
  const sections = readFileSync('docs/customers/errors.md', 'utf8').matchAll(/^### `(\w+)`$/gm);
  const codes = new Set([...sections].map(([, code]) => code));
  expect(Object.keys(CALL_CODES).filter((code) => isAnswered(code) && !codes.has(code))).toEqual([]);
});

test('every setting is documented', () => {
  expect(() => settingTables({})).toThrow('No table of docs/configuration.md has PUBLIC_HOST');
});

test.each([
  'docs/configuration.md',
  'docs/errors.md',
  'docs/rotating-secrets.md',
  'docs/runbook.md',
  'docs/upstreams.md',
  'k8s/tollgate/templates/_deployment.tpl',
  'k8s/tollgate/values.yaml',
])('every setting that %s names exists', (path) => {
  const known = new Set(
    Object.values(settingTables()).flatMap((part) =>
      [...part.matchAll(/^\| `(\w+)` /gm)].map(([, name = '']) => name),
    ),
  );
  const text = readFileSync(path, 'utf8');
  const named = [...text.matchAll(/(?<![\w./-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w.-])/g)].map(([name]) =>
    name.replace(/(?<!^NAME)_FILE$/, ''),
  );
  expect(named.filter((name) => !known.has(name) && !OTHERS.has(name))).toEqual([]);
});

/** Node.js' own, the placeholder of configuration.md, places of GraphQL's directives, and a code that Apollo has named. */
const OTHERS: ReadonlySet<string> = new Set([
  'NODE_OPTIONS',
  'NAME_FILE',
  'ARGUMENT_DEFINITION',
  'FIELD_DEFINITION',
  'INPUT_FIELD_DEFINITION',
  'PERSISTED_QUERY_NOT_FOUND',
]);

test('a metric without a row, or a row without a metric, is a fault', () => {
  const head = '| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n';
  const document = `## auth\n\n${head}| \`tollgate_a\` | | | old |\n`;
  const a = { name: 'tollgate_a', help: 'New', type: 'counter', labelNames: ['error'] };
  expect(withMetrics(document, { auth: [a] })).toMatch(/^\| `tollgate_a` \| counter \| `error` \| New +\|$/m);
  expect(() => withMetrics(document, { auth: [] })).toThrow('tollgate_a');
  expect(() => withMetrics(document, { auth: [a, { ...a, name: 'tollgate_b' }] })).toThrow('tollgate_b');
});
