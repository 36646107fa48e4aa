import { expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import { createLeases } from './leases.ts';

test('a slot that is released while Redis is told to renew it stays free, also if Redis has lost its scripts', async () => {
  const server = await startRedis();
  const logger = createLogger('suite', 'silent');
  const redis = openRedis(server.url, logger);
  await waitFor(() => redis.status === 'ready');
  const renewed = Promise.withResolvers<unknown>();
  const leases = createLeases(redis, logger);
  const key = '{s0}:calls:1';
  const member = leases.newMember();
  await redis.zadd(key, Date.now() + 60_000, member);
  const lease = leases.hold({ key, member });
  const send = redis.sendCommand.bind(redis) as (command: { name: string }) => Promise<unknown>;
  const sendCommand = (command: { name: string }) => {
    const answer = send(command);
    if (command.name.startsWith('eval')) {
      lease.release();
      renewed.resolve(answer);
    }
    return answer;
  };
  Object.assign(redis, { sendCommand });
  await renewed.promise.catch(() => undefined);
  // Behind a second attempt.
  await redis.ping();
  await redis.ping();
  expect(await redis.zcard(key)).toBe(0);
  leases.close();
  redis.disconnect();
  await server.stop();
});
