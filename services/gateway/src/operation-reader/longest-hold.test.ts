import { expect, test } from '@jest/globals';
import { parse } from 'graphql';
import type { DocumentNode } from 'graphql';
import { COST_PRESETS, loadCostSchema } from '@tollgate/graphql-cost/load-cost-schema';
import { NoPrice } from '@tollgate/graphql-cost/no-price';
import { priceDocument } from '@tollgate/graphql-cost/priced-document';
import { Problem } from '@tollgate/http/problem';
import { createOperationReader } from './operation-reader.ts';

/** As in config.ts. */
const MAX_DOCUMENT_BYTES = 65_536;
const GUARDS = {
  maxDepth: 50,
  maxAliases: 500,
  maxRootFields: 200,
  maxDirectives: 500,
  maxTokens: 5_000,
  introspection: true,
};

const LIMITS = { maxDocumentBytes: MAX_DOCUMENT_BYTES, guards: GUARDS, batchLimit: 10 };

const LONGEST_MS = 10;
/** The least of several times, since the machine has other work and code gets faster. */
const ATTEMPTS = 8;

const { schema } = loadCostSchema(
  `directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
   type Query { a(first: Int, b: String): [Query] @listSize(slicingArguments: ["first"]) c: Int }`,
  { defaults: COST_PRESETS.ibm, listSize: 10 },
);

const upTo = (unit: string, before = '', after = '') =>
  before + unit.repeat(Math.floor((MAX_DOCUMENT_BYTES - before.length - after.length) / unit.length)) + after;

const doubling = (count: number) =>
  `{ ...F0 } ${Array.from({ length: count }, (_, index) => {
    const next = `...F${String(index + 1)}`;
    return `fragment F${String(index)} on Query { x: a { ${next} } y: a { ${next} } }`;
  }).join(' ')} fragment F${String(count)} on Query { c }`;

const spreads = (count: number) => {
  const names = Array.from({ length: count }, (_, index) => `F${String(index)}`);
  return `{ ${names.map((name) => `a { ...${name} }`).join(' ')} } ${names.map((name) => `fragment ${name} on Query { c }`).join(' ')}`;
};

test.each([
  ['comments', upTo('#\n', '{ c } ')],
  ['one comment', upTo('x', '{ c } #')],
  ['a block string', upTo('x', '{ a(b: """', '""") { c } }')],
  ['a block string of lines', upTo(' x\n', '{ a(b: """', '""") { c } }')],
  ['escapes', upTo('\\u0041', '{ a(b: "', '") { c } }')],
  ['blanks', upTo(' ', '{ c } ')],
  ['a name', upTo('x', '{ ', ' }')],
  ['a number', upTo('9', '{ a(first: ', ') { c } }')],
  ['fields', upTo('c ', '{ ', '}')],
  ['aliases', upTo('x:c ', '{ ', '}')],
  ['directives', upTo('@d ', '{ c ', '}')],
  ['fields in each other', upTo('a{', '{ ')],
  ['lists in each other', upTo('[', '{ a(b: ')],
  ['characters that are none', upTo('\u202e').slice(0, 20_000)],
  ['doubling fragments', doubling(190)],
  ['fragments in many places', spreads(350)],
  ['many operations', upTo('query { c } ')],
])('%s are read and priced within 10 ms', (_what, query) => {
  expect(Buffer.byteLength(query)).toBeLessThanOrEqual(MAX_DOCUMENT_BYTES);
  // Nothing is remembered of a text that is read for the first time.
  const read = leastMs(() => createOperationReader(LIMITS).readOne({ query }));
  const document = parsed(query);
  const priced = document && leastMs(() => priceDocument(schema, query, document).price({}));
  expect(Math.max(read, priced ?? 0)).toBeLessThan(LONGEST_MS);
});

/** CPU time; what is refused takes its time, too. */
function leastMs(work: () => unknown): number {
  let least = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && least > LONGEST_MS / 2; attempt += 1) {
    const began = process.threadCpuUsage();
    try {
      work();
    } catch (error) {
      if (!(error instanceof Problem || error instanceof NoPrice)) throw error;
    }
    const { user, system } = process.threadCpuUsage(began);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

/** Null if it doesn't parse, or has more tokens than it may. */
function parsed(query: string): DocumentNode | null {
  try {
    return parse(query, { noLocation: true, maxLexicalTokens: GUARDS.maxTokens });
  } catch {
    return null;
  }
}
