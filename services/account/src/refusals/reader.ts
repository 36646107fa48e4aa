import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import {
  REFUSAL_COUNTS_FIELD,
  REFUSAL_COUNTS_KEY,
  REFUSED_CALLS_KEY,
  REFUSED_CALL_FIELD,
  refusalCountBatchSchema,
  refusedCallSchema,
} from '@tollgate/contracts/refused-call';
import type { z } from 'zod';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import type { EntryWatch, StreamIds } from '@tollgate/redis/await-entries';
import type { Transact } from '../platform/database/query.ts';
import { startWorkLoop } from '../platform/background/work-loop.ts';
import { FIRST_STREAM_ID, nextStreamId } from '../counting/stream/stream-id.ts';
import { storeRefusalCounts } from './count-store.ts';
import { storeRefusedCalls } from './store.ts';

export type RefusedCallMetrics = {
  stored: Pick<Counter, 'inc'>;
  beyondDay: Pick<Counter, 'inc'>;
  unreadable: Pick<Counter, 'inc'>;
};

const PAGE = 500;

/** What is stored is trimmed, so that any entry is a new one. */
const FROM_THE_START: StreamIds = new Map(
  [REFUSAL_COUNTS_KEY, REFUSED_CALLS_KEY].map((stream) => [stream, FIRST_STREAM_ID]),
);

/**
 * Moves records of refused and failed calls, and their exact numbers, from the streams to Postgres
 * (docs/design/settlement.md). An entry stored twice after a crash changes nothing the second time.
 */
export function startRefusedCallReader(options: {
  redis: Pick<RedisConnection, 'xrange' | 'xtrim'>;
  /** Undefined in a Redis Cluster: the streams are then read twice a second. */
  watch: EntryWatch | undefined;
  transact: Transact;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RefusedCallMetrics;
}): { close: () => Promise<void> } {
  const { redis, watch, transact, logger, metrics } = options;

  async function storePage(): Promise<boolean> {
    const entries = await redis.xrange(REFUSED_CALLS_KEY, '-', '+', 'COUNT', PAGE);
    const last = entries.at(-1);
    if (last === undefined) return false;
    const calls = entries.flatMap(([, fields]) => read(fields, REFUSED_CALL_FIELD, refusedCallSchema));
    const beyondDay = calls.length === 0 ? 0 : await storeRefusedCalls(transact, calls);
    if (beyondDay === null) return false;
    await redis.xtrim(REFUSED_CALLS_KEY, 'MINID', nextStreamId(last[0]));
    metrics.stored.inc(calls.length - beyondDay);
    metrics.beyondDay.inc(beyondDay);
    metrics.unreadable.inc(entries.length - calls.length);
    return entries.length === PAGE;
  }

  async function countPage(): Promise<boolean> {
    const entries = await redis.xrange(REFUSAL_COUNTS_KEY, '-', '+', 'COUNT', PAGE);
    const last = entries.at(-1);
    if (last === undefined) return false;
    const batches = entries.flatMap(([, fields]) =>
      read(fields, REFUSAL_COUNTS_FIELD, refusalCountBatchSchema),
    );
    if (batches.length > 0 && !(await storeRefusalCounts(transact, batches))) return false;
    await redis.xtrim(REFUSAL_COUNTS_KEY, 'MINID', nextStreamId(last[0]));
    metrics.unreadable.inc(entries.length - batches.length);
    return entries.length === PAGE;
  }

  async function hasEntries(signal: AbortSignal): Promise<boolean> {
    try {
      return (await watch?.wait(FROM_THE_START)) ?? true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  const loop = startWorkLoop({
    work: async (signal) => {
      if (!(await hasEntries(signal))) return;
      while (!signal.aborted && (await countPage()));
      while (!signal.aborted && (await storePage()));
    },
    messages: {
      failed: 'records of refused calls cannot be stored; retrying',
      recovered: 'records of refused calls are being stored again',
    },
    logger,
  });
  return {
    close: async () => {
      const closed = loop.close();
      watch?.close();
      await closed;
    },
  };
}

/** The field's value; nothing if it isn't what the schema says. */
function read<T>(fields: readonly string[], name: string, schema: z.ZodType<T>): T[] {
  const json = fields[fields.indexOf(name) + 1] ?? '';
  try {
    const parsed = schema.safeParse(JSON.parse(json));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

export function createRefusedCallMetrics(registry: Registry): RefusedCallMetrics {
  const registers = [registry];
  return {
    stored: new Counter({
      name: 'tollgate_refused_calls_stored_total',
      help: 'Records of refused and failed calls stored by this process',
      registers,
    }),
    beyondDay: new Counter({
      name: 'tollgate_refused_calls_beyond_day_total',
      help: 'Records not stored because their account had too many on that day',
      registers,
    }),
    unreadable: new Counter({
      name: 'tollgate_refused_calls_unreadable_total',
      help: 'Malformed stream entries, which were removed',
      registers,
    }),
  };
}
