import { expect, test } from '@jest/globals';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { activeEntitlement } from '../../test/suite/peers.ts';
import { createEntitle } from './entitle.ts';

function pendingAccount() {
  const answers: ((entitlement: Entitlement) => void)[] = [];
  const get = <T>() =>
    new Promise<T>((resolve) => {
      answers.push((entitlement) => {
        resolve(entitlement as T);
      });
    });
  const entitlements = createEntitle({
    account: { get },
    cacheTtlMs: 30_000,
    staleIfErrorMs: 0,
    cacheMaxEntries: 10,
    logger: createLogger('suite', 'silent'),
  });
  entitlements.trustCacheUntil(Infinity);
  return { answers, ...entitlements };
}

const blocked: Entitlement = { ...activeEntitlement(1), status: 'blocked', billing_period: null };

test.each([
  ['of the account', 1, undefined],
  ['of its payer', 5, undefined],
  ['of all', undefined, 'all'],
])('an answer that a change %s has overtaken is asked for again, and not kept', async (_name, id, all) => {
  const { answers, entitle, dropAccount, dropAll } = pendingAccount();
  const payer = entitle(1, 'request');
  if (all === 'all') dropAll();
  else dropAccount(id ?? 0);
  answers[0]?.({ ...activeEntitlement(1), payer_id: 5 });
  await new Promise(setImmediate);
  expect(answers).toHaveLength(2);
  answers[1]?.(blocked);
  await expect(payer).rejects.toMatchObject({ code: 'account_blocked' });
  await expect(async () => entitle(1, 'request')).rejects.toMatchObject({ code: 'account_blocked' });
  expect(answers).toHaveLength(2);
});

test('a change of somebody else leaves the answer as it is', async () => {
  const { answers, entitle, dropAccount } = pendingAccount();
  const payer = entitle(1, 'request');
  dropAccount(2);
  answers[0]?.(activeEntitlement(1));
  expect((await payer).payerId).toBe(1);
  expect(answers).toHaveLength(1);
});

test('without trust nothing that is kept is used', async () => {
  const { answers, entitle, trustCacheUntil } = pendingAccount();
  const first = entitle(1, 'request');
  answers[0]?.(activeEntitlement(1));
  await first;
  trustCacheUntil(0);
  const second = entitle(1, 'request');
  answers[1]?.(activeEntitlement(1));
  await second;
  expect(answers).toHaveLength(2);
});
