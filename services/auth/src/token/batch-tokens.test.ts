import { expect, test } from '@jest/globals';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { IssueAnswer } from './issue-script.ts';
import { batchTokens } from './batch-tokens.ts';

const client: ClientRecord = {
  client_id: '00000000-0000-0000-0000-000000000001',
  application_id: 1,
  account_id: 1,
  status: 'active',
  token_lifespan_sec: 60,
  revocation_epoch: 0,
  secrets: [],
};

type Asked = { json: string | undefined; keys: string[] };

function scriptThat(answer: IssueAnswer | 'changed' | Error) {
  const asked: Asked[] = [];
  const issueToken = batchTokens({
    issue: (_client, tokenKeys, json) => {
      asked.push({ json, keys: [...tokenKeys] });
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  });
  return { asked, issueToken };
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `token ${String(index)}`);

test('tokens of one turn are one command, in their order: as many as fit are issued, the others refused', async () => {
  const { asked, issueToken } = scriptThat({ fitted: 2, waitUs: 500 });
  const outcomes = await Promise.all(names(4).map((key) => issueToken({ client, json: 'one' }, key)));
  expect(asked).toEqual([{ json: 'one', keys: names(4) }]);
  expect(outcomes).toEqual(['issued', 'issued', { waitUs: 500 }, { waitUs: 500 }]);
});

test('each turn has a command of its own', async () => {
  const { asked, issueToken } = scriptThat({ fitted: 1, waitUs: 0 });
  for (const key of names(2)) expect(await issueToken({ client, json: 'one' }, key)).toBe('issued');
  expect(asked.map(({ keys }) => keys)).toEqual([['token 0'], ['token 1']]);
});

test('records that differ, and clients that were looked up, are asked for by themselves', async () => {
  const { asked, issueToken } = scriptThat('changed');
  const jsons = ['one', 'another', 'one', undefined, undefined];
  const outcomes = await Promise.all(
    jsons.map((json, index) => {
      const authentic = json === undefined ? { client } : { client, json };
      return issueToken(authentic, `token ${String(index)}`);
    }),
  );
  expect(asked).toEqual([
    { json: 'one', keys: ['token 0', 'token 2'] },
    { json: 'another', keys: ['token 1'] },
    { json: undefined, keys: ['token 3'] },
    { json: undefined, keys: ['token 4'] },
  ]);
  expect(outcomes).toEqual(jsons.map(() => 'changed'));
});

test('one command stores 256 tokens at most', async () => {
  const { asked, issueToken } = scriptThat({ fitted: 256, waitUs: 0 });
  await Promise.all(names(600).map((key) => issueToken({ client, json: 'one' }, key)));
  expect(asked.map(({ keys }) => keys.length)).toEqual([256, 256, 88]);
  expect(asked.flatMap(({ keys }) => keys)).toEqual(names(600));
});

test('a command that fails fails for all of its tokens', async () => {
  const { issueToken } = scriptThat(new Error('Redis is away'));
  const outcomes = await Promise.allSettled(names(3).map((key) => issueToken({ client, json: 'one' }, key)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
});
