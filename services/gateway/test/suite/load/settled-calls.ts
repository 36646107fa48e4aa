import { setTimeout as delay } from 'node:timers/promises';
import { lastPosition } from './last-position.ts';
import { WIDE_LIMITS, payerWith, startSimulatedGateway, usageOf } from './simulated-gateway.ts';

/**
 * A program for the bench: calls of some payers end at random times at many gateways, which settle them; nothing else of
 * a call is done. Arguments: the URL of Redis, gateways, calls per second of each, payers, seconds,
 * SETTLEMENT_INTERVAL_MS. Prints what was settled as JSON, once all of it is.
 */
const [redisUrl = '', ...numbers] = process.argv.slice(2);
const [gatewayCount = 0, callsPerSec = 0, payerCount = 0, duration = 0, intervalMs = 0] = numbers.map(Number);

const LANE = 0;
/** Beyond the accounts that there are. */
const FIRST_PAYER_ID = 2_000_000;
const TICK_MS = 2;

const payers = Array.from({ length: payerCount }, (_, index) =>
  payerWith(FIRST_PAYER_ID + index, WIDE_LIMITS),
);
const streamPosition = await lastPosition(redisUrl, LANE);
const gateways = await Promise.all(
  Array.from({ length: gatewayCount }, () =>
    startSimulatedGateway({
      redisUrl,
      intervalMs,
      snapshot: (periodId) => ({
        points: 0,
        stream_position: streamPosition,
        payer_id: payers.find((payer) => payer.periodId === periodId)?.payerId ?? 0,
      }),
    }),
  ),
);
// Only counters that are live are added to, and admissions make them so.
for (const payer of payers) {
  const lease = await gateways[0]?.call(payer);
  if (typeof lease === 'object') await gateways[0]?.settle(payer, lease, 1);
}
let [calls, settled] = [0, 0];
const beganMs = performance.now();
let lastMs = beganMs;
while (lastMs < beganMs + duration * 1_000) {
  await delay(TICK_MS);
  const nowMs = performance.now();
  const mean = (callsPerSec * (nowMs - lastMs)) / 1_000;
  lastMs = nowMs;
  for (const gateway of gateways) {
    for (let ended = randomCount(mean); ended > 0; ended -= 1) {
      const payer = payers[Math.floor(Math.random() * payerCount)];
      if (payer === undefined) break;
      calls += 1;
      void gateway.record(usageOf(payer, 1), LANE).then(() => (settled += 1));
    }
  }
}
while (settled < calls) await delay(TICK_MS);
const seconds = (performance.now() - beganMs) / 1_000;
await Promise.all(gateways.map((gateway) => gateway.close()));
process.stdout.write(`${JSON.stringify({ calls, seconds })}\n`);

/** Of events that are independent of each other (Poisson, by Knuth's method). */
function randomCount(mean: number): number {
  const least = Math.exp(-mean);
  let count = 0;
  for (let product = Math.random(); product > least; product *= Math.random()) count += 1;
  return count;
}
