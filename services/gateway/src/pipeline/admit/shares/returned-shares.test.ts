import { expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import { payerWith } from '../../../../test/suite/load/simulated-gateway.ts';
import { createLeases } from '../../../ledger/leases.ts';
import { createShareScripts } from '../../../ledger/share-script.ts';
import { createShares } from './shares.ts';

test('a wait for shares ends when they have expired, though Redis does not answer their return', async () => {
  const server = await startRedis();
  const logger = createLogger('suite', 'silent');
  const redis = openRedis(server.url, logger);
  await waitFor(() => redis.status === 'ready');
  const leases = createLeases(redis, logger);
  const answered = Promise.withResolvers<undefined>();
  const scripts = createShareScripts(redis, 'gateway-1');
  let tick: (() => void) | undefined;
  const shares = createShares({
    scripts: { ...scripts, giveBack: () => answered.promise },
    leases,
    trustMs: 400,
    canBeRecalled: () => true,
    every: (each) => {
      tick = each;
      return () => undefined;
    },
  });
  const payer = payerWith(1, { rate_limit: 100_000 });
  const decision = {
    outcome: 'admitted' as const,
    pointsLeft: null,
    callsLeft: 100_000,
    resetUs: 0,
    waitUs: 0,
    budget: null,
    budgetLeft: null,
  };
  for (let calls = 0; calls < 50; calls += 1) shares.onDecision(payer, decision, 1);
  await waitFor(() => {
    tick?.();
    return shares.admit(payer, 1) !== null;
  });
  await shares.returned({ payer_id: payer.payerId, period_id: payer.periodId }, 50);
  expect(shares.admit(payer, 1)).toBeNull();
  answered.resolve(undefined);
  await shares.close();
  leases.close();
  redis.disconnect();
  await server.stop();
});
