import type { Logger } from '@tollgate/log';

const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1_000;

/** Backs off from streams that can not be counted, each for itself. */
export type StreamBackoff = {
  mayTry: (stream: string) => boolean;
  has: (stream: string) => boolean;
  failed: (stream: string, error: unknown) => void;
  passed: (stream: string) => void;
  /** Forgets all streams but these. */
  keepOnly: (streams: ReadonlySet<string>) => void;
  /** When any stream was last read and counted as far as it goes, by performance.now(). */
  lastPassedMs: () => number;
};

/** Says once when usage begins to wait, whatever the streams and causes, and once when all of it is counted. */
export function createStreamBackoff(logger: Pick<Logger, 'info' | 'warn'>): StreamBackoff {
  const failing = new Map<string, { failures: number; untilMs: number }>();
  let lastPassedMs = performance.now();
  const end = (stream: string) => {
    if (failing.delete(stream) && failing.size === 0) logger.info('usage is counted again');
  };
  return {
    mayTry: (stream) => (failing.get(stream)?.untilMs ?? 0) <= performance.now(),
    has: (stream) => failing.has(stream),
    failed: (stream, error) => {
      if (failing.size === 0) {
        logger.warn({ err: error, stream }, 'usage waits to be counted; trying again');
      }
      const failures = (failing.get(stream)?.failures ?? 0) + 1;
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS);
      failing.set(stream, { failures, untilMs: performance.now() + backoffMs });
    },
    passed: (stream) => {
      lastPassedMs = performance.now();
      end(stream);
    },
    keepOnly: (streams) => {
      for (const stream of failing.keys()) if (!streams.has(stream)) end(stream);
    },
    lastPassedMs: () => lastPassedMs,
  };
}
