import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { createFullLoad } from '../load/full-load.ts';
import { AUTH_RATES, stackAuth } from './auth-rates.ts';
import type { PartResult } from '../part.ts';
import type { Servers } from '../servers.ts';

/** In MiB. */
type MemorySample = { tokens: number; rssMib: number; heapMib: number; redisMib: number };

const TOKENS = 1_000_000;
const WARM_UP_SEC = 5;
const SAMPLE_EVERY_SEC = 10;
const MIB = 2 ** 20;

/**
 * Issues tokens of one hour and reads memory every 10 s: auth's must stay constant, Redis' grows per token.
 */
export async function measureTokenMemory(servers: Servers, say: (line: string) => void): Promise<PartResult> {
  const ours = await AUTH_RATES.token.ours(servers, stackAuth(servers));
  const { fullLoad, versions } = await createFullLoad(servers, say);
  await fullLoad(ours, WARM_UP_SEC);
  const redis = openRedis(servers.redisUrl, createLogger('bench', 'silent'));
  const metricsUrl = `${servers.demo.private.auth_url}/metrics`;
  const sample = async () => {
    // Garbage of earlier responses is collected within a second.
    await delay(1_000);
    return await lookAtMemory(metricsUrl, await redis.info('memory'));
  };
  try {
    const first = await sample();
    const samples: MemorySample[] = [{ ...first, tokens: 0 }];
    for (let issued = 0; issued < TOKENS;) {
      await fullLoad(ours, SAMPLE_EVERY_SEC);
      const now = await sample();
      issued = now.tokens - first.tokens;
      samples.push({ ...now, tokens: issued });
      say(
        `token-memory: ${String(issued)} tokens; auth ${now.rssMib.toFixed(0)} MiB, its heap ` +
          `${now.heapMib.toFixed(0)} MiB; Redis ${now.redisMib.toFixed(0)} MiB`,
      );
    }
    const last = samples.at(-1) ?? first;
    const redisBytesPerToken = ((last.redisMib - first.redisMib) * MIB) / last.tokens;
    const heapMib = Math.max(...samples.map((one) => one.heapMib));
    return {
      goals: [],
      notes: [
        `Redis: ${redisBytesPerToken.toFixed(0)} bytes for each token of one hour, over ${String(last.tokens)} tokens`,
        `the auth process: ${first.rssMib.toFixed(0)} MiB resident before, ${last.rssMib.toFixed(0)} MiB after; its heap at most ${heapMib.toFixed(0)} MiB, looked at ${String(samples.length)} times`,
      ],
      versions,
      figures: { samples, redisBytesPerToken },
    };
  } finally {
    redis.disconnect();
  }
}

async function lookAtMemory(metricsUrl: string, redisInfo: string): Promise<MemorySample> {
  const metrics = await (await fetch(metricsUrl)).text();
  const valueOf = (name: string) => Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(metrics)?.[1]);
  return {
    tokens: valueOf('tollgate_tokens_issued_total'),
    rssMib: valueOf('process_resident_memory_bytes') / MIB,
    heapMib: valueOf('nodejs_heap_size_used_bytes') / MIB,
    redisMib: Number(/^used_memory:(\d+)/m.exec(redisInfo)?.[1]) / MIB,
  };
}
