import { describe, expect, test } from '@jest/globals';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { waitFor } from '@tollgate/stack/wait-for';
import { activeEntitlement } from '../../../test/suite/stand-ins.ts';
import { createEntitle } from './entitle.ts';

/** The answers of account, or those that it keeps in Redis, are given by the test. */
function pendingAnswers(source: 'account' | 'redis') {
  const answers: ((entitlement: Entitlement) => void)[] = [];
  const pending = <T>(answerOf: (entitlement: Entitlement) => T) =>
    new Promise<T>((resolve) => {
      answers.push((entitlement) => {
        resolve(answerOf(entitlement));
      });
    });
  const entitlements = createEntitle({
    account: { get: <T>() => pending((entitlement) => entitlement as T) },
    readKeptAnswer: () =>
      source === 'redis' ? pending((entitlement) => ({ entitlement, ageMs: 0 })) : Promise.resolve(undefined),
    cacheTtlMs: 30_000,
    staleIfErrorMs: 0,
    strictPoints: 'plan',
    readsCalls: true,
    cacheMaxEntries: 10,
    logger: createLogger('suite', 'silent'),
  });
  entitlements.trustCacheUntil(Infinity);
  const answer = async (at: number, entitlement: Entitlement) => {
    await waitFor(() => answers[at] !== undefined, { intervalMs: 1 });
    answers[at]?.(entitlement);
  };
  return { answers, answer, ...entitlements };
}

const CALLER = { account_id: 1, application_id: 10 };

const blocked: Entitlement = { ...activeEntitlement(1), status: 'blocked', billing_period: null };

describe.each(['account', 'redis'] as const)('answers of %s', (source) => {
  test.each([
    ['of the account', 1, undefined],
    ['of its payer', 5, undefined],
    ['of all', undefined, 'all'],
  ])('one that a change %s has overtaken is asked for again, and not kept', async (_name, id, all) => {
    const { answers, answer, entitle, dropAccount, dropAll } = pendingAnswers(source);
    const payer = entitle(CALLER, 'request');
    await waitFor(() => answers.length === 1, { intervalMs: 1 });
    if (all === 'all') dropAll();
    else dropAccount(id ?? 0);
    await answer(0, { ...activeEntitlement(1), payer_id: 5 });
    await answer(1, blocked);
    await expect(payer).rejects.toMatchObject({ code: 'account_blocked' });
    await expect(async () => entitle(CALLER, 'request')).rejects.toMatchObject({ code: 'account_blocked' });
    expect(answers).toHaveLength(2);
  });

  test('a change of another account leaves the answer as it is', async () => {
    const { answers, answer, entitle, dropAccount } = pendingAnswers(source);
    const payer = entitle(CALLER, 'request');
    await waitFor(() => answers.length === 1, { intervalMs: 1 });
    dropAccount(2);
    await answer(0, activeEntitlement(1));
    expect((await payer).payerId).toBe(1);
    expect(answers).toHaveLength(1);
  });

  test('without trust nothing that is kept is used', async () => {
    const { answers, answer, entitle, trustCacheUntil } = pendingAnswers(source);
    const first = entitle(CALLER, 'request');
    await answer(0, activeEntitlement(1));
    await first;
    trustCacheUntil(0);
    const second = entitle(CALLER, 'request');
    await answer(1, activeEntitlement(1));
    await second;
    expect(answers).toHaveLength(2);
  });
});
