import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COST_PRESETS, loadCostSchema } from '@tollgate/graphql-cost/load-cost-schema';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { call } from '../../test/suite/http-client.ts';
import type { Answer } from '../../test/suite/http-client.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';
import { createEstimates } from './estimates.ts';

const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION
  directive @listSize(assumedSize: Int, slicingArguments: [String!]) on FIELD_DEFINITION
  type Query {
    users(first: Int): [User] @listSize(slicingArguments: ["first"])
    open: [User]
  }
  type Mutation { rename: User }
  type User { name: String @cost(weight: "2") }
`;

let folder: string;
let gateway: GatewayUnderTest;
let nextAccount = 9_000;
let upstreamCalls = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'estimates-'));
  const path = join(folder, 'schema.graphql');
  await writeFile(path, SDL);
  gateway = await startGateway({ env: { GRAPHQL_SCHEMA: path, ESTIMATES_PER_MINUTE: '20' } });
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

function caller(limits: Parameters<typeof withLimits>[1] = {}) {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, limits));
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

function bodyOf(query: string, variables: Record<string, unknown> = {}): string {
  return JSON.stringify({ query, variables });
}

const USERS = 'query ($n: Int) { users(first: $n) { name } }';

describe('a call', () => {
  test.each([
    [bodyOf(USERS, { n: 3 }), '7'],
    [bodyOf(USERS, { n: 4 }), '9'],
    [`[${bodyOf('{ users(first: 1) { name } }')},${bodyOf('{ users(first: 2) { name } }')}]`, '8'],
  ])('%s is answered with its estimate of %s points', async (body, points) => {
    // The second one repeats the body.
    for (const repeated of [false, true]) {
      const answer = await gateway.query({ body });
      expect([repeated, answer.status, answer.headers['x-points-estimate']]).toEqual([repeated, 200, points]);
    }
  });

  test.each([
    ['for an unknown field', bodyOf('{ nothing }')],
    ['without a text', '{"variables":{}}'],
  ])('has none %s, and is forwarded', async (_what, body) => {
    const answer = await gateway.query({ body });
    expect([answer.status, answer.headers['x-points-estimate'], upstreamCalls]).toEqual([200, undefined, 1]);
  });

  test('that is refused has its estimate, too', async () => {
    const { token } = caller({ points_limit: 0 });
    const answer = await gateway.query({ token, body: bodyOf(USERS, { n: 3 }) });
    expect([answer.status, answer.headers['x-points-estimate']]).toEqual([402, '7']);
  });

  test('by GET has the estimate of its variables', async () => {
    const search = `?query=${encodeURIComponent(USERS)}&variables=${encodeURIComponent('{"n":5}')}`;
    const answer = await gateway.query({ method: 'GET', search });
    expect(answer.headers['x-points-estimate']).toBe('11');
  });

  test('has the gateway’s estimate, not the upstream’s', async () => {
    gateway.upstream((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'x-points-estimate': '999' }).end('{}');
    });
    expect((await gateway.query({ body: bodyOf(USERS, { n: 3 }) })).headers['x-points-estimate']).toBe('7');
    expect(
      (await gateway.query({ body: bodyOf('{ nothing }') })).headers['x-points-estimate'],
    ).toBeUndefined();
  });
});

test('a text that does not parse has no estimate', () => {
  const { schema } = loadCostSchema(SDL, { defaults: COST_PRESETS.ibm, listSize: 10 });
  const { ofRequest } = createEstimates({
    current: () => schema,
    texts: () => null,
    reload: () => Promise.resolve(),
  });
  for (const text of ['{ "', `{ users(first: ${'['.repeat(20_000)}) { name } }`])
    expect(ofRequest({ text, operationName: null, variables: {} })).toBeNull();
});

test('a schema that changes is another generation', () => {
  const load = (sdl: string) => loadCostSchema(sdl, { defaults: COST_PRESETS.ibm, listSize: 10 }).schema;
  let schema = load(SDL);
  const { ofRequest } = createEstimates({
    current: () => schema,
    texts: () => null,
    reload: () => Promise.resolve(),
  });
  const points = () =>
    ofRequest({ text: '{ users(first: 1) { name } }', operationName: null, variables: {} })?.points;
  expect(points()).toBe(3);
  schema = load(SDL.replace('"2"', '"5"'));
  expect(points()).toBe(6);
});

describe('an estimate', () => {
  const byHeader = (token: string, body: string) =>
    gateway.query({ token, body, headers: { 'x-points-estimate': 'only' } });
  const byPath = (token: string, body: string) =>
    call(`${gateway.graphqlUrl}/estimate`, {
      body,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });

  function estimateIn(answer: Answer): unknown {
    return (answer.json() as { extensions: { estimate: unknown } }).extensions.estimate;
  }

  test.each([
    ['by header', byHeader],
    ['by path', byPath],
  ])('%s costs nothing and sends nothing', async (_how, estimate) => {
    const { token, accountId } = caller({ points_limit: 50 });
    const answer = await estimate(token, bodyOf('{ u: users(first: 3) { name } open { name } }'));
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-points-cost': '0', 'cache-control': 'no-store' });
    expect(answer.json()).toEqual({
      extensions: {
        estimate: {
          points: 28,
          points_remaining: 50,
          allowed: true,
          reason: null,
          bounded: false,
          fields: [
            { path: ['open', 'name'], points: 20 },
            { path: ['u', 'name'], points: 6 },
            { path: ['u'], points: 1 },
            { path: ['open'], points: 1 },
          ],
        },
      },
    });
    await gateway.query({ token });
    // The call's own event is the only one.
    expect(await gateway.usage(1, accountId)).toHaveLength(1);
    expect(upstreamCalls).toBe(1);
  });

  test('of a mutation sends nothing', async () => {
    const { token } = caller();
    expect(estimateIn(await byPath(token, bodyOf('mutation { rename { name } }')))).toMatchObject({
      points: 3,
    });
    expect(upstreamCalls).toBe(0);
  });

  test('of a batch is a list', async () => {
    const { token } = caller();
    const answer = await byPath(token, `[${bodyOf(USERS, { n: 1 })},${bodyOf(USERS, { n: 2 })}]`);
    expect(answer.json()).toMatchObject([
      { extensions: { estimate: { points: 3 } } },
      { extensions: { estimate: { points: 5 } } },
    ]);
  });

  test('says what would refuse the call', async () => {
    const { token } = caller({ points_limit: 0 });
    expect(estimateIn(await byPath(token, bodyOf(USERS, { n: 1 })))).toMatchObject({
      points: 3,
      points_remaining: 0,
      allowed: false,
      reason: 'points_limit_exceeded',
    });
  });

  test('with another value of the header is 400', async () => {
    const answer = await gateway.query({ headers: { 'x-points-estimate': 'yes' } });
    expect(answer.status).toBe(400);
  });

  test('needs a token', async () => {
    expect((await byPath('none', bodyOf(USERS))).status).toBe(401);
  });

  test('and refused documents are limited per minute, calls with them', async () => {
    const { token } = caller();
    for (let count = 0; count < 10; count += 1) {
      expect((await byPath(token, bodyOf(USERS))).status).toBe(200);
      expect((await gateway.query({ token, body: bodyOf('{ "') })).json()).toMatchObject({
        errors: [{ extensions: { code: 'document_invalid' } }],
      });
    }
    for (const answer of [await byPath(token, bodyOf(USERS)), await gateway.query({ token })]) {
      expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
    }
  });
});
