import { Problem } from '@tollgate/http/problem';

/** In each process; each holds a connection to Postgres and a snapshot. */
export const EXPORT_LIMITS = { total: 4, perHour: 10 } as const;

const RETRY_AFTER_SEC = 30;

export type RunningExports = {
  /** Runs `work`, one at a time for each account. @throws {Problem} too_many_requests; service_unavailable */
  run: (accountId: number, work: () => Promise<void>) => Promise<void>;
};

export function createRunningExports(): RunningExports {
  const running = new Set<number>();
  return {
    run: async (accountId, work) => {
      const headers = { 'retry-after': String(RETRY_AFTER_SEC) };
      if (running.has(accountId)) {
        throw new Problem('too_many_requests', { detail: 'An export is already under way.', headers });
      }
      if (running.size >= EXPORT_LIMITS.total) throw new Problem('service_unavailable', { headers });
      running.add(accountId);
      try {
        await work();
      } finally {
        running.delete(accountId);
      }
    },
  };
}
