import { Problem } from '@tollgate/http/problem';

/** In each process; each holds a connection to Postgres and a snapshot. */
export const EXPORT_LIMITS = { total: 4, perHour: 10 } as const;

const RETRY_AFTER_SEC = 30;

export type RunningExports = {
  /** Runs `work`, one at a time for each owner: an account, or an operator. @throws {Problem} too_many_requests; service_unavailable */
  run: (owner: string, work: () => Promise<void>) => Promise<void>;
};

export function createRunningExports(): RunningExports {
  const running = new Set<string>();
  return {
    run: async (owner, work) => {
      const headers = { 'retry-after': String(RETRY_AFTER_SEC) };
      if (running.has(owner)) {
        throw new Problem('too_many_requests', { detail: 'An export is already under way.', headers });
      }
      if (running.size >= EXPORT_LIMITS.total) throw new Problem('service_unavailable', { headers });
      running.add(owner);
      try {
        await work();
      } finally {
        running.delete(owner);
      }
    },
  };
}
