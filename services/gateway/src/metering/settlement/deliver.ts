import { setTimeout as delay } from 'node:timers/promises';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { LeaseEntry } from '../../admission/leases.ts';
import type { PrimeShard } from '../live-usage/prime.ts';
import type { SendAnswer, SendBatch, SettleResult } from './settle-script.ts';

export type DeliverOptions = {
  send: SendBatch;
  /** After a loss of Redis' data. */
  primeShard: PrimeShard;
  logger: Pick<Logger, 'warn' | 'info'>;
  /** Told of each attempt's end, for metrics. */
  onBatch?: (result: SettleResult | 'failed') => void;
};

/** Resolves when Redis has acknowledged the batch; never rejects. */
export type Deliver = (
  shard: number,
  batch: UsageBatch,
  leases: readonly LeaseEntry[],
) => Promise<SendAnswer['live']>;

const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 500;

/**
 * Sends a batch until there is a certain answer, each time under its number: the script counts it once. Where
 * the shard isn't primed on Redis' data set, nothing was written, and it goes again after that.
 */
export function createDeliver({ send, primeShard, logger, onBatch }: DeliverOptions): Deliver {
  async function attempt(...batch: Parameters<Deliver>): Promise<SendAnswer['live'] | null> {
    const { result, live } = await send(...batch);
    onBatch?.(result);
    if (result !== 'unprimed') return live;
    await primeShard(batch[1].events);
    return null;
  }

  return async (shard, batch, leases) => {
    for (let failures = 0; ;) {
      try {
        const live = await attempt(shard, batch, leases);
        if (live === null) continue;
        if (failures > 0) logger.info({ shard, seq: batch.seq, failures }, 'batch acknowledged');
        return live;
      } catch (error) {
        onBatch?.('failed');
        if (failures === 0) logger.warn({ err: error, shard, seq: batch.seq }, 'batch not acknowledged');
        await delay(Math.min(BACKOFF_MIN_MS * 2 ** Math.min(failures, 10), BACKOFF_MAX_MS));
        failures += 1;
      }
    }
  };
}
