import { USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { HealthReport } from '@tollgate/contracts/health-report';
import type { RedisConnection } from '@tollgate/redis';
import type { Query } from '../../platform/database/query.ts';
import { countRecentGaps } from '../../counting/gaps/list.ts';
import { compareStreamIds, nextStreamId, streamIdMs } from '../../counting/stream/stream-id.ts';

type StreamsReport = NonNullable<HealthReport['usage_streams']>;

const STREAMS = Array.from({ length: USAGE_SHARD_COUNT }, (_, lane) => usageStreamKey(lane));

export async function reportStreams(
  query: Query,
  redis: RedisConnection,
  redisNowMs: number,
): Promise<StreamsReport> {
  const rows = await query<{ stream: string; position: string }>(
    'SELECT stream, position FROM usage_stream_positions',
  );
  const positions = new Map(rows.map(({ stream, position }) => [stream, position]));
  const streams = await Promise.all(
    STREAMS.map((stream) => reportStream(redis, stream, positions.get(stream) ?? '0-0')),
  );
  const oldestMs = Math.min(redisNowMs, ...streams.flatMap(({ oldest_ms }) => oldest_ms ?? []));
  return {
    oldest_age_sec: (redisNowMs - oldestMs) / 1_000,
    behind: streams.flatMap(({ stream, is_behind }) => (is_behind ? [stream] : [])),
    gaps_of_30_days: await countRecentGaps(query),
  };
}

async function reportStream(redis: RedisConnection, stream: string, position: string) {
  const [uncounted] = await redis.xrange(stream, nextStreamId(position), '+', 'COUNT', 1);
  const [newest] = await redis.xrevrange(stream, '+', '-', 'COUNT', 1);
  return {
    stream,
    oldest_ms: uncounted === undefined ? null : streamIdMs(uncounted[0]),
    is_behind: newest !== undefined && compareStreamIds(newest[0], position) < 0,
  };
}
