import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@tollgate/stack/wait-for';
import { startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { begin, call } from '../../test/suite/http-client.ts';
import { withCallRules } from '../../test/suite/stand-ins.ts';

const SDL = `
  directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
  input Page { first: Int notes: [String] }
  type Query { users(page: Page): [User] @listSize(slicingArguments: ["page.first"]) }
  type User { name: String friends: [User] }
`;

const LENGTH = 900_000;
const SECRET = 'marked-value-7316';

let folder: string;
let schemaPath: string;
let gateway: GatewayUnderTest;
let nextAccount = 9_900;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'long-bodies-'));
  schemaPath = join(folder, 'schema.graphql');
  await writeFile(schemaPath, SDL);
  gateway = await startGateway({ env: { GRAPHQL_SCHEMA: schemaPath } });
});

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

function caller(callRules: Parameters<typeof withCallRules>[1] = {}) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withCallRules(accountId, callRules));
  return gateway.auth.issue({ accountId });
}

const QUERY = 'query ($p: Page) { users(page: $p) { friends { name } } }';
const bodyOf = (first: number, query = QUERY) =>
  JSON.stringify({ query, variables: { p: { first, notes: [SECRET, 'x'.repeat(LENGTH)] } } });

test('a body of 900 kB arrives byte for byte, with the estimate of its variables', async () => {
  let received = '';
  gateway.upstream((req, res) => {
    req.setEncoding('utf8').on('data', (text: string) => (received += text));
    req.once('end', () => res.end('{}'));
  });
  const body = bodyOf(4);
  const answer = await gateway.query({ body });
  expect([answer.status, answer.headers['x-points-estimate']]).toEqual([200, '6']);
  expect(received === body).toBe(true);
});

test('its estimate alone names the fields that cost most', async () => {
  const answer = await gateway.query({ body: bodyOf(3), headers: { 'x-points-estimate': 'only' } });
  expect(answer.json()).toMatchObject({
    extensions: {
      estimate: {
        points: 5,
        bounded: true,
        fields: [
          { path: ['users', 'friends'], points: 3 },
          { path: ['users'], points: 2 },
        ],
      },
    },
  });
});

test('it is held to the limit per call, by a schema that has just changed, too', async () => {
  const token = caller({ points_per_call_limit: 5 });
  const codeOf = async (body: string) => {
    const answer = await gateway.query({ token, body });
    return (answer.json() as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;
  };
  expect(await codeOf(bodyOf(3))).toBeUndefined();
  expect(await codeOf(bodyOf(4))).toBe('call_too_expensive');
  const unknown = QUERY.replace('name', 'born');
  expect(await codeOf(bodyOf(3, unknown))).toBe('document_invalid');
});

test('nothing of it is written to the log', () => {
  expect(gateway.process.logs()).not.toContain(SECRET);
});

test('many callers that go away leave nothing behind', async () => {
  const token = caller();
  const body = `{"query":"{ users { name } }","variables":{${Array.from({ length: 60_000 }, (_, index) => `"n${String(index)}":0`).join()}}}`;
  const options = { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body };
  const calls = Array.from({ length: 12 }, () => begin(gateway.graphqlUrl, options));
  for (const { request, answer } of calls) {
    answer.catch(() => undefined);
    request.once('finish', () => request.destroy());
  }
  await Promise.allSettled(calls.map(({ answer }) => answer));
  await waitFor(async () => (await gateway.metric('tollgate_data_calls_in_flight')) === 0);
  const answers = await Promise.all(Array.from({ length: 6 }, () => call(gateway.graphqlUrl, options)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
});
