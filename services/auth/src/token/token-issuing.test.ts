import { expect, test } from '@jest/globals';
import { accessTokenHash } from '@tollgate/access-token';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { Command } from '@tollgate/redis';
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

/** Issuing over a Redis that stores whatever it is told to; with the keys of each command, and those deleted. */
function issuingWhereAllFits() {
  const stored: string[][] = [];
  const deleted: string[] = [];
  const redis = {
    sendCommand: ({ args: [, count, ...rest] }: Command) => {
      // The first three are the counter's and the client's.
      const tokens = rest.slice(3, Number(count)).map(String);
      stored.push(tokens);
      return Promise.resolve([tokens.length, 0]);
    },
    del: (key: string) => {
      deleted.push(key);
      return Promise.resolve(1);
    },
  };
  const options = { perMinute: 60, onLimited: () => undefined };
  return { ...{ stored, deleted }, issuing: createTokenIssuing({ redis, ...options }) };
}

test('of tokens that are stored together, that of a refused attempt is deleted, and no other', async () => {
  const { stored, deleted, issuing } = issuingWhereAllFits();
  const refusal = new Error('too many failures');
  const issue = (token: string, settled: Promise<void>) =>
    issuing.issue(token, { client, json: 'as remembered', settled });
  const answers = await Promise.allSettled([
    issue('one', Promise.resolve()),
    issue('two', Promise.reject(refusal)),
    issue('three', Promise.resolve()),
  ]);
  expect(answers).toEqual([
    { status: 'fulfilled', value: 'issued' },
    { status: 'rejected', reason: refusal },
    { status: 'fulfilled', value: 'issued' },
  ]);
  expect(stored).toHaveLength(1);
  expect(stored[0]).toHaveLength(3);
  expect(deleted).toEqual([stored[0]?.[1]]);
  expect(deleted[0]).toContain(accessTokenHash('two'));
});
