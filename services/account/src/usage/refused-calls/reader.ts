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
 * Moves records of refused and failed calls from the stream to Postgres (ADR 0045). An entry stored twice after a
 * crash changes nothing the second time.
 */
export function startRefusedCallReader(options: {
  redis: Pick<RedisConnection, 'xrange' | 'xtrim'>;
  transact: Transact;
  logger: Pick<Logger, 'info' | 'warn'>;
  metrics: RefusedCallMetrics;
}): { close: () => Promise<void> } {
  const { redis, transact, logger, metrics } = options;

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
      failed: 'records of refused calls cannot be stored; retrying',
      recovered: 'records of refused calls are being stored again',
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
