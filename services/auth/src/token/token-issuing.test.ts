import { expect, test } from '@jest/globals';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { tokenKey } from '../redis/keys.ts';
import { createTokenIssuing } from './token-issuing.ts';

const client: ClientRecord = {
  client_id: '00000000-0000-0000-0000-000000000001',
  application_id: 1,
  account_id: 1,
  status: 'active',
  token_lifespan_sec: 60,
  revocation_epoch: 0,
  secrets: [],
};

type Asked = { json: string; keys: string[] };

function issuingBy(answer: [fitted: number, waitUs: number, surplus: number] | Error) {
  const asked: Asked[] = [];
  const { issue } = createTokenIssuing({
    runScript: (keys, args) => {
      asked.push({ json: String(args[5]), keys: keys.slice(4) });
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    perMinute: 60,
    liveMax: { perApplication: 1_000, perConnection: 1_000 },
    onLimited: () => undefined,
    onSurplus: () => undefined,
  });
  return { asked, issue };
}

const keysOf = (tokens: readonly string[]) =>
  tokens.map((token) => tokenKey(accessTokenHash(token), applicationPart(client.client_id)));

const names = (count: number) => Array.from({ length: count }, (_, index) => `token ${String(index)}`);

test('tokens of one turn are one command, in their order: as many as fit are issued, the others refused', async () => {
  const { asked, issue } = issuingBy([2, 500, 0]);
  const outcomes = await Promise.allSettled(names(4).map((token) => issue(token, { client, json: 'one' })));
  expect(asked).toEqual([{ json: 'one', keys: keysOf(names(4)) }]);
  const issued = { status: 'fulfilled', value: 'issued' };
  const refused = { status: 'rejected', reason: { code: 'too_many_requests' } };
  expect(outcomes).toMatchObject([issued, issued, refused, refused]);
});

test('each turn has a command of its own', async () => {
  const { asked, issue } = issuingBy([1, 0, 0]);
  for (const token of names(2)) expect(await issue(token, { client, json: 'one' })).toBe('issued');
  expect(asked.map(({ keys }) => keys)).toEqual([keysOf(['token 0']), keysOf(['token 1'])]);
});

test('records that differ, and clients that were looked up, are asked for by themselves', async () => {
  const { asked, issue } = issuingBy([-1, 0, 0]);
  const jsons = ['one', 'another', 'one', undefined, undefined];
  const outcomes = await Promise.all(
    jsons.map((json, index) =>
      issue(`token ${String(index)}`, json === undefined ? { client } : { client, json }),
    ),
  );
  expect(asked).toEqual([
    { json: 'one', keys: keysOf(['token 0', 'token 2']) },
    { json: 'another', keys: keysOf(['token 1']) },
    { json: '', keys: keysOf(['token 3']) },
    { json: '', keys: keysOf(['token 4']) },
  ]);
  expect(outcomes).toEqual(jsons.map(() => 'changed'));
});

test('one command stores 256 tokens at most', async () => {
  const { asked, issue } = issuingBy([256, 0, 0]);
  await Promise.all(names(600).map((token) => issue(token, { client, json: 'one' })));
  expect(asked.map(({ keys }) => keys.length)).toEqual([256, 256, 88]);
  expect(asked.flatMap(({ keys }) => keys)).toEqual(keysOf(names(600)));
});

test('a command that fails fails for all of its tokens', async () => {
  const { issue } = issuingBy(new Error('Redis is away'));
  const outcomes = await Promise.allSettled(names(3).map((token) => issue(token, { client, json: 'one' })));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});
