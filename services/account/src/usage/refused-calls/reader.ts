import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { REFUSED_CALLS_KEY, REFUSED_CALL_FIELD, refusedCallSchema } from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import type { Transact } from '../../platform/database/query.ts';
import { startWorkLoop } from '../../platform/timing/work-loop.ts';
import { nextStreamId } from '../reader/stream/stream-id.ts';
import { storeRefusedCalls } from './store.ts';

export type RefusedCallMetrics = {
  stored: Pick<Counter, 'inc'>;
  beyondDay: Pick<Counter, 'inc'>;
  unreadable: Pick<Counter, 'inc'>;
};

const PAGE = 500;

/**
 * Stores what the gateways have recorded of refused and failed calls (ADR 0045). An entry is removed from the stream
 * when it is stored: a crash between the two stores it twice, and the second time changes nothing.
 */
export function startRefusedCallReader(options: {
  redis: Pick<RedisConnection, 'xrange' | 'xtrim'>;
  transact: Transact;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RefusedCallMetrics;
}): { close: () => Promise<void> } {
  const { redis, transact, logger, metrics } = options;

  /** Whether there may be more. */
  async function storePage(): Promise<boolean> {
    const entries = await redis.xrange(REFUSED_CALLS_KEY, '-', '+', 'COUNT', PAGE);
    const last = entries.at(-1);
    if (last === undefined) return false;
    const calls = entries.flatMap(([, fields]) => readCall(fields) ?? []);
    const beyondDay = calls.length === 0 ? 0 : await storeRefusedCalls(transact, calls);
    if (beyondDay === null) return false;
    await redis.xtrim(REFUSED_CALLS_KEY, 'MINID', nextStreamId(last[0]));
    metrics.stored.inc(calls.length - beyondDay);
    metrics.beyondDay.inc(beyondDay);
    metrics.unreadable.inc(entries.length - calls.length);
    return entries.length === PAGE;
  }

  return startWorkLoop({
    work: async (signal) => {
      while (!signal.aborted && (await storePage()));
    },
    messages: {
      failed: 'records of refused calls wait to be stored',
      recovered: 'records of refused calls are stored again',
    },
    logger,
  });
}

function readCall(fields: readonly string[]): RefusedCall | undefined {
  const json = fields[fields.indexOf(REFUSED_CALL_FIELD) + 1] ?? '';
  try {
    return refusedCallSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

export function createRefusedCallMetrics(registry: Registry): RefusedCallMetrics {
  const registers = [registry];
  return {
    stored: new Counter({
      name: 'tollgate_refused_calls_stored_total',
      help: 'Records of refused and failed calls that this process has stored',
      registers,
    }),
    beyondDay: new Counter({
      name: 'tollgate_refused_calls_beyond_day_total',
      help: 'Records that were left out because their account has had too many on that day',
      registers,
    }),
    unreadable: new Counter({
      name: 'tollgate_refused_calls_unreadable_total',
      help: 'Entries of the stream that were no records, and were removed',
      registers,
    }),
  };
}
