import type { Logger } from '@tollgate/log';

const FIRST_REST_MS = 50;
const MAX_REST_MS = 1_000;

/** Which streams can't be counted just now, and until when each rests. */
export type Troubles = {
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
export function createTroubles(logger: Pick<Logger, 'info' | 'warn'>): Troubles {
  const resting = new Map<string, { failures: number; untilMs: number }>();
  let lastPassedMs = performance.now();
  const end = (stream: string) => {
    if (resting.delete(stream) && resting.size === 0) logger.info('usage is counted again');
  };
  return {
    mayTry: (stream) => (resting.get(stream)?.untilMs ?? 0) <= performance.now(),
    has: (stream) => resting.has(stream),
    failed: (stream, error) => {
      if (resting.size === 0) {
        logger.warn({ err: error, stream }, 'usage waits to be counted; trying again');
      }
      const failures = (resting.get(stream)?.failures ?? 0) + 1;
      const restMs = Math.min(FIRST_REST_MS * 2 ** (failures - 1), MAX_REST_MS);
      resting.set(stream, { failures, untilMs: performance.now() + restMs });
    },
    passed: (stream) => {
      lastPassedMs = performance.now();
      end(stream);
    },
    keepOnly: (streams) => {
      for (const stream of resting.keys()) if (!streams.has(stream)) end(stream);
    },
    lastPassedMs: () => lastPassedMs,
  };
}
