import { setTimeout as delay } from 'node:timers/promises';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import type { Logger } from '@tollgate/log';
import type { LeaseEntry } from './leases.ts';
import type { PrimeLane } from './prime.ts';
import type { RecordResult, RecordedBatch, SendBatch } from './record-script.ts';

export type DeliverBatchOptions = {
  send: SendBatch;
  primeLane: PrimeLane;
  logger: Pick<Logger, 'warn' | 'info'>;
  onBatch?: (result: RecordResult | 'failed') => void;
};

/** Resolves when Redis has acknowledged the batch; never rejects. */
export type DeliverBatch = (
  lane: number,
  batch: UsageBatch,
  leases: readonly LeaseEntry[],
) => Promise<Omit<RecordedBatch, 'result'>>;

const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 500;

/** Retries under the same number, which the script counts once; primes a lane on which the script writes nothing. */
export function createDeliverBatch({ send, primeLane, logger, onBatch }: DeliverBatchOptions): DeliverBatch {
  async function attempt(...batch: Parameters<DeliverBatch>): Promise<RecordedBatch | null> {
    const recorded = await send(...batch);
    onBatch?.(recorded.result);
    if (recorded.result !== 'unprimed') return recorded;
    await primeLane(batch[0], batch[1].events);
    return null;
  }

  return async (lane, batch, leases) => {
    for (let failures = 0; ;) {
      try {
        const recorded = await attempt(lane, batch, leases);
        if (recorded === null) continue;
        if (failures > 0) logger.info({ lane, seq: batch.seq, failures }, 'batch acknowledged');
        return recorded;
      } catch (error) {
        onBatch?.('failed');
        if (failures === 0) logger.warn({ err: error, lane, seq: batch.seq }, 'batch not acknowledged');
        await delay(Math.min(BACKOFF_MIN_MS * 2 ** Math.min(failures, 10), BACKOFF_MAX_MS));
        failures += 1;
      }
    }
  };
}
