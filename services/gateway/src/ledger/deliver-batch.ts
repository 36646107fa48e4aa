import { setTimeout as delay } from 'node:timers/promises';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { LeaseEntry } from './leases.ts';
import type { PrimeShard } from './prime.ts';
import type { RecordResult, RecordedBatch, SendBatch } from './record-script.ts';

export type DeliverBatchOptions = {
  send: SendBatch;
  primeShard: PrimeShard;
  logger: Pick<Logger, 'warn' | 'info'>;
  onBatch?: (result: RecordResult | 'failed') => void;
};

/** Resolves when Redis has acknowledged the batch; never rejects. */
export type DeliverBatch = (
  shard: number,
  batch: UsageBatch,
  leases: readonly LeaseEntry[],
) => Promise<Omit<RecordedBatch, 'result'>>;

const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 500;

/** Retries under the same number, which the script counts once; primes a shard on which the script writes nothing. */
export function createDeliverBatch({ send, primeShard, logger, onBatch }: DeliverBatchOptions): DeliverBatch {
  async function attempt(...batch: Parameters<DeliverBatch>): Promise<RecordedBatch | null> {
    const recorded = await send(...batch);
    onBatch?.(recorded.result);
    if (recorded.result !== 'unprimed') return recorded;
    await primeShard(batch[1].events);
    return null;
  }

  return async (shard, batch, leases) => {
    for (let failures = 0; ;) {
      try {
        const recorded = await attempt(shard, batch, leases);
        if (recorded === null) continue;
        if (failures > 0) logger.info({ shard, seq: batch.seq, failures }, 'batch acknowledged');
        return recorded;
      } catch (error) {
        onBatch?.('failed');
        if (failures === 0) logger.warn({ err: error, shard, seq: batch.seq }, 'batch not acknowledged');
        await delay(Math.min(BACKOFF_MIN_MS * 2 ** Math.min(failures, 10), BACKOFF_MAX_MS));
        failures += 1;
      }
    }
  };
}
