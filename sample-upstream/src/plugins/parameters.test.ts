import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from '../app.ts';

const { server, close } = createApp();
let url: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
});
afterAll(() => close());

type Parameters = Record<string, string>;
const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

const byUrl = (parameters: Parameters, accept = JSON_TYPE) =>
  fetch(`${url}?${String(new URLSearchParams({ query: '{ __typename }', ...parameters }))}`, {
    headers: { accept },
  });
const byForm = (parameters: Parameters) =>
  fetch(url, {
    method: 'POST',
    headers: { accept: JSON_TYPE },
    body: new URLSearchParams({ query: '{ __typename }', ...parameters }),
  });
const byBody = (extensions: unknown, accept = JSON_TYPE) =>
  fetch(url, {
    method: 'POST',
    headers: { accept, 'content-type': JSON_TYPE },
    body: JSON.stringify({ query: '{ __typename }', extensions }),
  });

async function expectRefused(answers: Promise<Response>[]): Promise<void> {
  for (const answer of await Promise.all(answers)) {
    expect([answer.status, answer.headers.get('x-points')]).toEqual([400, '1']);
    expect(await answer.json()).toEqual({
      errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST' } }],
    });
  }
}

describe('a malformed parameter is 400, in either media type', () => {
  test.each(['extensions', 'variables'])('where %s is not JSON', async (name) => {
    const broken = ['{', 'nothing', "{'a':1}"].map((value) => ({ [name]: value }));
    await expectRefused(
      broken.flatMap((one) => [byUrl(one), byUrl(one, GRAPHQL_TYPE), byUrl(one, '*/*'), byForm(one)]),
    );
  });

  test('where extensions is no object', async () => {
    const wrong = [5, 'text', true, [], [{}]];
    await expectRefused(
      wrong.flatMap((value) => [
        byUrl({ extensions: JSON.stringify(value) }),
        byForm({ extensions: JSON.stringify(value) }),
        byBody(value),
        byBody(value, GRAPHQL_TYPE),
      ]),
    );
  });
});

test('what is an object, null or empty goes on', async () => {
  const well = [byUrl({ extensions: '{"a":1}' }), byUrl({ extensions: 'null' }), byUrl({ extensions: '' })];
  for (const answer of await Promise.all([...well, byBody({}), byForm({ extensions: '{}' })])) {
    expect([answer.status, await answer.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  }
});
