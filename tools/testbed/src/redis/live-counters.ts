import type { Redis } from 'ioredis';

type Counters = { points: number; requests: number; time_ms: number; traffic_bytes: number };

const FIELDS = ['points', 'requests', 'time_ms', 'traffic_bytes'] as const;

/** A period's live counters, as gateways keep them in the hash `key`; null if there are none. */
export async function readLiveCounters(
  redis: Pick<Redis, 'hget' | 'hgetBuffer'>,
  key: string,
): Promise<(Counters & { usage_version: number }) | null> {
  const [version, counters] = await Promise.all([
    redis.hget(key, 'usage_version'),
    redis.hgetBuffer(key, 'counters'),
  ]);
  if (version === null || counters === null) return null;
  const values = FIELDS.map((field, index) => [field, counters.readDoubleLE(8 * index)] as const);
  return { usage_version: Number(version), ...(Object.fromEntries(values) as Counters) };
}

/** Sets a period's live counters. New ones are of a data set that no Redis has. */
export async function writeLiveCounters(
  redis: Pick<Redis, 'hset' | 'hsetnx'>,
  key: string,
  { usage_version, ...counters }: Counters & { usage_version: number },
): Promise<void> {
  const packed = Buffer.alloc(8 * FIELDS.length);
  for (const [index, field] of FIELDS.entries()) packed.writeDoubleLE(counters[field], 8 * index);
  await redis.hsetnx(key, 'data_set', 'x');
  await redis.hset(key, { usage_version, counters: packed });
}
