import type { Logger } from '@tollgate/log';

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1_000;

export type StreamBackoff = {
  isReady: (stream: string) => boolean;
  isFailing: (stream: string) => boolean;
  recordFailure: (stream: string, error: unknown) => void;
  recordSuccess: (stream: string) => void;
  retainOnly: (streams: ReadonlySet<string>) => void;
  /** When a stream was last read or counted without an error, by performance.now(). */
  lastSuccessMs: () => number;
};

/** Logs the first failure of any stream and the end of the last one, whatever happens between. */
export function createStreamBackoff(logger: Pick<Logger, 'info' | 'warn'>): StreamBackoff {
  const failing = new Map<string, { failures: number; untilMs: number }>();
  let lastSuccessMs = performance.now();
  const end = (stream: string) => {
    if (failing.delete(stream) && failing.size === 0) logger.info('usage is being counted again');
  };
  return {
    isReady: (stream) => (failing.get(stream)?.untilMs ?? 0) <= performance.now(),
    isFailing: (stream) => failing.has(stream),
    recordFailure: (stream, error) => {
      if (failing.size === 0) {
        logger.warn({ err: error, stream }, 'usage cannot be counted; retrying');
      }
      const failures = (failing.get(stream)?.failures ?? 0) + 1;
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS);
      failing.set(stream, { failures, untilMs: performance.now() + backoffMs });
    },
    recordSuccess: (stream) => {
      lastSuccessMs = performance.now();
      end(stream);
    },
    retainOnly: (streams) => {
      for (const stream of failing.keys()) if (!streams.has(stream)) end(stream);
    },
    lastSuccessMs: () => lastSuccessMs,
  };
}
