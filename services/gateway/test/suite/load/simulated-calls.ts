import { setTimeout as delay } from 'node:timers/promises';
import { lastPosition } from './last-position.ts';
import { WIDE_LIMITS, payerWith, startSimulatedGateway } from './simulated-gateway.ts';

/**
 * A program for the bench: calls of one payer through several gateways' admission and settlement, in this process and
 * without HTTP. Arguments: the URL of Redis, gateways, concurrent calls of each, seconds, ADMISSION_SHARE_TRUST_MS.
 * Prints what they did as JSON.
 */
const [redisUrl = '', ...numbers] = process.argv.slice(2);
const [gatewayCount = 0, callers = 0, duration = 0, trustMs = 0] = numbers.map(Number);

const UPSTREAM_MS = 5;
/** Of all payers, as by default. */
const LANE = 0;
/** Beyond the accounts that there are. */
const PAYER_ID = 1_000_000;

const decided = { share: 0, redis: 0, recall: 0 };
const payer = payerWith(PAYER_ID, WIDE_LIMITS);
const streamPosition = await lastPosition(redisUrl, LANE);
const gateways = await Promise.all(
  Array.from({ length: gatewayCount }, () =>
    startSimulatedGateway({
      redisUrl,
      trustMs,
      snapshot: () => ({ points: 0, stream_position: streamPosition, payer_id: PAYER_ID }),
      onDecided: (by) => (decided[by] += 1),
    }),
  ),
);
const beganMs = performance.now();
let [calls, refused] = [0, 0];
const untilMs = beganMs + duration * 1_000;
await Promise.all(
  gateways.flatMap((gateway) =>
    Array.from({ length: callers }, async () => {
      while (performance.now() < untilMs) {
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
