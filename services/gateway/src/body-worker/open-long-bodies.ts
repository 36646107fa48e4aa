import type { OpenLongBody } from '../operation-reader/long-bodies.ts';
import { receivedProblem } from './jobs.ts';
import { createWorkerPool } from './worker-pool.ts';
import type { WorkerPoolOptions } from './worker-pool.ts';

/** Long bodies are parsed and priced in threads (docs/design/admission.md). */
export function openLongBodies(options: WorkerPoolOptions): {
  open: OpenLongBody;
  close: () => Promise<void>;
} {
  const pool = createWorkerPool(options);
  return {
    open: (body, { payerId, onGone }) => {
      let limit = 0;
      return {
        head: async (batchLimit) => {
          limit = batchLimit;
          const { answer, drop } = pool.run({ kind: 'head', body, batchLimit }, payerId);
          const gone = Promise.withResolvers<null>();
          // What has begun ends by itself: another thread would take longer to start.
          const stop = onGone(() => {
            drop();
            gone.resolve(null);
          });
          answer.catch(() => undefined);
          const head = await Promise.race([answer, gone.promise]).finally(stop);
          if (head !== null && 'problem' in head) throw receivedProblem(head.problem);
          return head;
        },
        withTexts: async (found) => {
          const bytes = await pool.run({ kind: 'withTexts', body, found }, payerId).answer;
          return Buffer.from(bytes.buffer);
        },
        prices: async (schema, found) => {
          const { apiVersion } = schema;
          const job = { kind: 'prices' as const, body, found, batchLimit: limit, apiVersion, schema };
          const prices = await pool.run(job, payerId).answer;
          return prices.map(({ unpriced, ...price }) => ({
            ...price,
            unpriced: unpriced && receivedProblem(unpriced),
          }));
        },
      };
    },
    close: pool.close,
  };
}
