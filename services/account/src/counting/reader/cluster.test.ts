import { expect, test } from '@jest/globals';
import { ENTITLEMENT_CHANNEL } from '@tollgate/contracts/entitlement';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedisCluster } from '@tollgate/testbed/redis-topologies';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  sumOf,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

test('on a Redis Cluster usage of all shards is counted once over an outage, and each master tells of changed entitlements', async () => {
  const redis = await startRedisCluster();
  const suite = await startAccount({ redis });
  // Each master by itself: what it hands to those who are connected to it.
  const subscribers = redis.nodes.map(({ url }) => openRedis(url, createLogger('suite', 'silent')));
  try {
    const told = subscribers.map(() => [] as string[]);
    for (const [index, subscriber] of subscribers.entries()) {
      subscriber.on('message', (_channel: string, message: string) => told[index]?.push(message));
      await waitFor(() => subscriber.status === 'ready');
      await subscriber.subscribe(ENTITLEMENT_CHANNEL);
    }
    const events = [];
    for (let count = 0; count < 64; count += 1) {
      const account_id = await insertAccount(suite.database);
      const period_id = await insertPeriod(suite.database, account_id);
      events.push(usageEvent({ payer_id: account_id, account_id, period_id }));
    }
    const message = JSON.stringify({ account_id: events.at(-1)?.account_id });
    // Its own, and what the other two pass on by the cluster's bus.
    await waitFor(() => told.every((own) => own.filter((one) => one === message).length === 3));

    await Promise.all(events.map((event) => appendBatch(suite.store, [event])));
    await allCounted(suite);
    await redis.kill();
    await redis.restart();
    await waitFor(async () => {
      await suite.store.ping();
      return true;
    });
    for (const event of events) {
      await waitFor(async () => {
        await appendBatch(suite.store, [event]);
        return true;
      });
    }
    await allCounted(suite);
    const twice = sumOf([...events, ...events]);
    expect(await countedUsage(suite.database)).toMatchObject({ totals: twice, hourly: twice });
  } finally {
    for (const subscriber of subscribers) subscriber.disconnect();
    await suite.close();
    await redis.stop();
  }
});
