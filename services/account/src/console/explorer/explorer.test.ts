import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { explorerExamples } from './examples-setting.ts';

const EXAMPLES = [{ name: 'A country', query: '{ country }', variables: { code: 'CH' } }];

const SCHEMA = { __schema: { queryType: { name: 'Query' } } };

type Asked = { headers: Record<string, unknown>; body: string };

let dataApi: Server;
let suite: AccountUnderTest;
const asked: Asked[] = [];
let answer: string;

beforeAll(async () => {
  dataApi = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      asked.push({ headers: req.headers, body: Buffer.concat(chunks).toString() });
      res.end(answer);
    });
  });
  await new Promise<void>((resolve) => {
    dataApi.listen(0, '127.0.0.1', resolve);
  });
  const { port } = dataApi.address() as AddressInfo;
  suite = await startAccount({
    settings: {
      EXPLORER_EXAMPLES: JSON.stringify(EXAMPLES),
      EXPLORER_SCHEMA_URL: `http://127.0.0.1:${String(port)}/graphql`,
    },
  });
});

afterAll(async () => {
  await suite.close();
  dataApi.close();
});

test('the schema is read once for all customers, with nothing of theirs, and only for a session', async () => {
  answer = JSON.stringify({ data: SCHEMA });
  const path = `${suite.account.publicUrl}/api/console/explorer/schema`;
  expect((await fetch(path)).status).toBe(401);
  expect(asked).toHaveLength(0);
  const owners = await Promise.all([newOwner(suite), newOwner(suite)]);
  const schemas = await Promise.all(owners.map(({ browser }) => browser.request('GET', '/explorer/schema')));
  for (const { body } of schemas) expect(body).toEqual({ introspection: SCHEMA });
  expect(asked).toHaveLength(1);
  const [{ headers, body } = { headers: {}, body: '' }] = asked;
  expect(JSON.parse(body)).toMatchObject({ operationName: 'IntrospectionQuery' });
  expect(Object.keys(headers).filter((name) => /cookie|authorization|^x-/.test(name))).toEqual([]);
});

test('examples are the operator’s', async () => {
  const { browser } = await newOwner(suite);
  expect((await browser.request('GET', '/explorer/examples')).body).toEqual({ examples: EXAMPLES });
});

test('a data API without introspection leaves the schema out', async () => {
  answer = JSON.stringify({ errors: [{ message: 'Introspection is disabled.' }] });
  const replica = await startAccount({
    settings: { EXPLORER_SCHEMA_URL: suite.settings['EXPLORER_SCHEMA_URL'] ?? '' },
  });
  try {
    const { browser } = await newOwner(replica);
    expect((await browser.request('GET', '/explorer/schema')).body).toEqual({ introspection: null });
  } finally {
    await replica.close();
  }
});

test.each([
  { name: 'no JSON', value: 'a query' },
  { name: 'no list', value: '{"name": "A", "query": "{ a }"}' },
  { name: 'no query', value: '[{"name": "A"}]' },
  { name: 'a misspelt member', value: '[{"name": "A", "query": "{ a }", "variable": {}}]' },
  { name: 'too many', value: JSON.stringify(Array(21).fill(EXAMPLES[0])) },
])('EXPLORER_EXAMPLES: $name is refused', ({ value }) => {
  expect(explorerExamples.safeParse(value).success).toBe(false);
});
