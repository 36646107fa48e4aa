import { setTimeout as delay } from 'node:timers/promises';
import { usageLane } from '@tollgate/contracts/usage-stream';
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

/** `lanes`: how many there are. Some of the batch's payers have moved to others, and none of it was written. */
type Delivered = RecordedBatch | { lanes: number };

/** Resolves when Redis has acknowledged the batch, or refuses it because payers have moved; never rejects. */
export type DeliverBatch = (
  lane: number,
  batch: UsageBatch,
  leases: readonly LeaseEntry[],
) => Promise<Delivered>;

const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 500;

/** Retries under the same number, which the script counts once; primes a lane on which the script writes nothing. */
export function createDeliverBatch({ send, primeLane, logger, onBatch }: DeliverBatchOptions): DeliverBatch {
  async function attempt(...batch: Parameters<DeliverBatch>): Promise<Delivered | null> {
    const [lane, { events }] = batch;
    const sent = await send(...batch);
    onBatch?.(sent.result);
    const lanes = sent.result === 'unprimed' ? await primeLane(lane, events) : sent.lanes;
    if (lanes !== undefined && events.some(({ payer_id }) => usageLane(payer_id, lanes) !== lane))
      return { lanes };
    return sent.result === 'unprimed' ? null : sent;
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
