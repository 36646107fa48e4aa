import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRules } from '@tollgate/contracts/entitlement';
import { COST_PRESETS, loadCostSchema } from '@tollgate/graphql-cost/load-cost-schema';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { openReady } from '../../test/suite/raw-socket.ts';
import { withCallRules } from '../../test/suite/stand-ins.ts';
import { createCheckPrice } from './check-price.ts';
import { createEstimates } from './estimates.ts';

const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION
  directive @listSize(slicingArguments: [String!]) on FIELD_DEFINITION
  type Query { users(first: Int): [User] @listSize(slicingArguments: ["first"]) }
  type User { name: String @cost(weight: "2") }
`;

let folder: string;
let schemaPath: string;
let gateway: GatewayUnderTest;
let nextAccount = 9_300;
let upstreamCalls = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'call-limit-'));
  schemaPath = join(folder, 'schema.graphql');
  await writeFile(schemaPath, SDL);
  gateway = await startGateway({ env: { GRAPHQL_SCHEMA: schemaPath, ESTIMATES_PER_MINUTE: '10' } });
});

beforeEach(() => {
  upstreamCalls = 0;
  gateway.upstream((req, res) => {
    upstreamCalls += 1;
    answerOk(req, res);
  });
});

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

/** The token of a new account whose plan has these rules. */
function callerWith(rules: CallRules, at: GatewayUnderTest = gateway): string {
  const accountId = (nextAccount += 1);
  at.account.entitle(accountId, withCallRules(accountId, rules));
  return at.auth.issue({ accountId });
}

const bodyOf = (query: string) => JSON.stringify({ query });
const users = (first: number) => `{ users(first: ${String(first)}) { name } }`;

describe('points_per_call_limit', () => {
  test('admits what costs as much, and refuses what costs more, naming the fields that cost most', async () => {
    const token = callerWith({ points_per_call_limit: 7 });
    expect((await gateway.query({ token, body: bodyOf(users(3)) })).status).toBe(200);
    const answer = await gateway.query({ token, body: bodyOf(users(4)) });
    expect([answer.status, answer.headers['x-points-cost'], answer.headers['x-points-estimate']]).toEqual([
      400,
      '0',
      '9',
    ]);
    expect(answer.json()).toMatchObject({
      errors: [
        {
          message: 'The operation would cost up to 9 points; the plan allows 7 per call.',
          extensions: {
            code: 'call_too_expensive',
            limit: 7,
            estimate: 9,
            fields: [
              { path: ['users', 'name'], points: 8 },
              { path: ['users'], points: 1 },
            ],
          },
        },
      ],
    });
    expect(upstreamCalls).toBe(1);
  });

  test('of 0 allows nothing', async () => {
    const token = callerWith({ points_per_call_limit: 0 });
    expect(await gateway.query({ token, body: bodyOf('{ __typename }') })).toMatchObject({ status: 400 });
  });

  test('holds for each operation of a batch, and nothing of a refused one is sent', async () => {
    const token = callerWith({ points_per_call_limit: 7 });
    const batch = (...counts: number[]) => `[${counts.map((first) => bodyOf(users(first))).join()}]`;
    expect((await gateway.query({ token, body: batch(3, 3) })).status).toBe(200);
    const refused = await gateway.query({ token, body: batch(3, 4) });
    expect(refused.status).toBe(400);
    expect(refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'call_too_expensive', index: 1 } }],
    });
    expect(upstreamCalls).toBe(1);
  });

  test('refuses what has no price', async () => {
    const token = callerWith({ points_per_call_limit: 7 });
    const accept = 'application/graphql-response+json';
    const answer = await gateway.query({
      token,
      headers: { accept },
      body: bodyOf('{\n  users { nothing }\n}'),
    });
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      {
        errors: [
          {
            message: 'User has no field nothing.',
            locations: [{ line: 2, column: 11 }],
            extensions: { code: 'document_invalid' },
          },
        ],
      },
    ]);
    const withoutText = await gateway.query({ token, body: '{"variables":{}}' });
    expect(withoutText.json()).toMatchObject({ errors: [{ extensions: { code: 'price_unknown' } }] });
    expect(upstreamCalls).toBe(0);
  });

  test('is stated by an estimate', async () => {
    const token = callerWith({ points_per_call_limit: 7 });
    const estimate = async (query: string) =>
      (await gateway.query({ token, body: bodyOf(query), headers: { 'x-points-estimate': 'only' } })).json();
    expect(await estimate(users(3))).toMatchObject({
      extensions: { estimate: { allowed: true, reason: null } },
    });
    expect(await estimate(users(4))).toMatchObject({
      extensions: { estimate: { points: 9, allowed: false, reason: 'call_too_expensive' } },
    });
    expect(await estimate('{ nothing }')).toMatchObject({
      extensions: { estimate: { points: null, allowed: false, reason: 'document_invalid' } },
    });
  });

  test('refusals take from the rate of estimates', async () => {
    const token = callerWith({ points_per_call_limit: 0 });
    for (let count = 0; count < 10; count += 1) {
      expect((await gateway.query({ token, body: bodyOf(users(1)) })).status).toBe(400);
    }
    expect((await gateway.query({ token, body: bodyOf(users(1)) })).status).toBe(429);
  });

  test('holds over WebSocket, where refused documents take from the same rate', async () => {
    const token = callerWith({ points_per_call_limit: 7 });
    const raw = await openReady(gateway.graphqlUrl.replace('http', 'ws'), token);
    const refusal = async (id: string, query: string) => {
      raw.send({ id, type: 'subscribe', payload: { query } });
      return (await raw.message({ type: 'error', id })).payload;
    };
    expect(await refusal('a', users(4))).toMatchObject([
      { extensions: { code: 'call_too_expensive', limit: 7, estimate: 9 } },
    ]);
    for (let count = 0; count < 9; count += 1) {
      expect(await refusal(`b${String(count)}`, '{ "')).toMatchObject([
        { extensions: { code: 'document_invalid' } },
      ]);
    }
    expect(await refusal('c', users(1))).toMatchObject([
      { extensions: { code: 'too_many_requests', retry_after_sec: expect.any(Number) } },
    ]);
    raw.socket.close();
  });
});

test('what has no price is priced again when the schema has been read again', async () => {
  const load = (sdl: string) => loadCostSchema(sdl, { defaults: COST_PRESETS.ibm, listSize: 10 }).schema;
  let schema = load(SDL);
  const reload = () => {
    schema = load(SDL.replace('type User {', 'type User { age: Int @cost(weight: "3") '));
    return Promise.resolve();
  };
  const check = createCheckPrice(createEstimates({ current: () => schema, texts: () => null, reload }));
  const payer = (limit: number) => ({ callRules: { points_per_call_limit: limit }, reservesPoints: false });
  const request = { text: '{ users(first: 1) { age } }', operationName: null, variables: {} };
  await expect(check(payer(4), { type: 'query', requests: [request] })).resolves.toBe(4);
  schema = load(SDL);
  await expect(check(payer(3), { type: 'query', requests: [request] })).rejects.toMatchObject({
    code: 'call_too_expensive',
  });
});

test('without a schema, calls that need a price are refused until there is one', async () => {
  const other = await startGateway();
  try {
    const token = callerWith({ points_per_call_limit: 7 }, other);
    const answer = await other.query({ token, body: bodyOf(users(1)) });
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect((await other.query({ token: callerWith({}, other), body: bodyOf(users(1)) })).status).toBe(200);
  } finally {
    await other.stop();
  }
});

describe('guards of a plan', () => {
  test.each<[string, CallRules, string, number]>([
    ['a lower depth', { graphql_max_depth: 1 }, '{ users { name } }', 400],
    ['the settings’ depth', { graphql_max_aliases: 1 }, '{ users { name } }', 200],
    ['a higher depth', { graphql_max_depth: 60 }, `${'{ a '.repeat(55)}${'}'.repeat(55)}`, 200],
    ['no introspection', { graphql_introspection: false }, '{ __schema { types { name } } }', 400],
    ['fewer aliases', { graphql_max_aliases: 1 }, '{ a: __typename b: __typename }', 400],
    ['fewer root fields', { graphql_max_root_fields: 1 }, '{ __typename users { name } }', 400],
    ['fewer tokens', { graphql_max_tokens: 3 }, '{ users { name } }', 400],
    ['no tokens', { graphql_max_tokens: 0 }, '{ users { name } }', 200],
    ['fewer directives', { graphql_max_directives: 1 }, '{ __typename @a @b }', 400],
  ])('%s: %j', async (_what, rules, query, status) => {
    expect((await gateway.query({ token: callerWith(rules), body: bodyOf(query) })).status).toBe(status);
    // The same text by another plan.
    const standard = await gateway.query({ token: callerWith({}), body: bodyOf(query) });
    expect(standard.status).toBe(query.includes('{ a {') ? 400 : 200);
  });

  test('0 operations of a batch refuse batches', async () => {
    const token = callerWith({ graphql_batch_limit: 0 });
    const answer = await gateway.query({ token, body: `[${bodyOf(users(1))}]` });
    expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: 'batch_too_large' } }] });
  });
});
