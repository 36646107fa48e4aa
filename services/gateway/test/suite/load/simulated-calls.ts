import { setTimeout as delay } from 'node:timers/promises';
import { usageStreamKey } from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { payerWith, startSimulatedGateway } from './simulated-gateway.ts';

/**
 * A program for the bench: calls of some payers through several gateways' admission and settlement, in this process and
 * without HTTP. Arguments: the URL of Redis, gateways, concurrent calls of each, the mean of the random pause before
 * each call (ms), payers, seconds, ADMISSION_SHARE_TRUST_MS, SETTLEMENT_INTERVAL_MS. Prints what they did as JSON.
 */
const [redisUrl = '', ...numbers] = process.argv.slice(2);
const [
  gatewayCount = 0,
  callers = 0,
  pauseMs = 0,
  payerCount = 0,
  duration = 0,
  trustMs = 0,
  intervalMs = 0,
] = numbers.map(Number);

const UPSTREAM_MS = 5;
/** Of all payers, as by default. */
const LANE = 0;
/** Beyond the accounts that there are. */
const FIRST_PAYER_ID = 1_000_000;

const decided = { share: 0, redis: 0, recall: 0 };
const payers = Array.from({ length: payerCount }, (_, index) =>
  payerWith(FIRST_PAYER_ID + index, {
    points_limit: 1_000_000_000_000,
    rate_limit: 100_000_000,
    session_limit: 100_000,
  }),
);
// Other parts of the bench may have used the stream before, and account trims what it has counted.
const streamPosition = await lastPosition();
const gateways = await Promise.all(
  Array.from({ length: gatewayCount }, () =>
    startSimulatedGateway({
      redisUrl,
      trustMs,
      intervalMs,
      snapshot: (periodId) => ({
        points: 0,
        stream_position: streamPosition,
        payer_id: payers.find((payer) => payer.periodId === periodId)?.payerId ?? 0,
      }),
      onDecided: (by) => (decided[by] += 1),
    }),
  ),
);
const beganMs = performance.now();
let [calls, refused] = [0, 0];
const untilMs = beganMs + duration * 1_000;
await Promise.all(
  gateways.flatMap((gateway) =>
    Array.from({ length: callers }, async (_, caller) => {
      for (let turn = caller; performance.now() < untilMs; turn += 1) {
        const payer = payers[turn % payerCount];
        if (payer === undefined) break;
        if (pauseMs > 0) await delay(-Math.log(1 - Math.random()) * pauseMs);
        const lease = await gateway.call(payer);
        if (typeof lease === 'string') {
          refused += 1;
          continue;
        }
        await delay(UPSTREAM_MS);
        await gateway.settle(payer, lease, 1);
        calls += 1;
      }
    }),
  ),
);
const seconds = (performance.now() - beganMs) / 1_000;
await Promise.all(gateways.map((gateway) => gateway.close()));
process.stdout.write(`${JSON.stringify({ calls, refused, seconds, decided })}\n`);

async function lastPosition(): Promise<string> {
  const redis = openRedis(redisUrl, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
  const facts = (await redis.xinfo('STREAM', usageStreamKey(LANE)).catch(() => [])) as unknown[];
  redis.disconnect();
  const at = facts.indexOf('last-generated-id');
  return at === -1 ? '0-0' : String(facts[at + 1]);
}
