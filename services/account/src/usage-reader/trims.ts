import type { Logger } from '@tollgate/log';
import type { UsageReaderMetrics } from './metrics.ts';
import type { TrimStream, UsageStream } from './trim-script.ts';

/** Every stream is trimmed this often though nothing was counted: it finds one whose ids have fallen behind. */
const CHECK_INTERVAL_MS = 10_000;

export type Trims = {
  /** What is counted of the stream has grown. */
  due: (key: string) => void;
  /** Trims what is due among these streams. Never throws: what fails stays due. */
  run: (streams: readonly UsageStream[], positions: ReadonlyMap<string, string>) => Promise<void>;
  /** Forgets all streams but these. */
  keepOnly: (streams: ReadonlySet<string>) => void;
};

/** Removes what is counted from the streams. Positions only ever name entries whose transaction is committed. */
export function createTrims(options: {
  trim: TrimStream;
  metrics: Pick<UsageReaderMetrics, 'behind'>;
  logger: Pick<Logger, 'error'>;
}): Trims {
  const { trim, metrics, logger } = options;
  /** When each stream was last trimmed to its position, by performance.now(); none where that is due. */
  const trimmedAtMs = new Map<string, number>();
  const behind = new Set<string>();

  function observe(key: string, position: string, isBehind: boolean): void {
    if (isBehind && !behind.has(key)) {
      logger.error({ stream: key, position }, 'a usage stream is behind what is counted of it; see ADR 0008');
    }
    if (isBehind) behind.add(key);
    else behind.delete(key);
    metrics.behind.set(behind.size);
  }

  async function trimOne(stream: UsageStream, position: string): Promise<void> {
    const { key } = stream;
    // Before the answer: what is counted meanwhile makes it due again.
    trimmedAtMs.set(key, performance.now());
    try {
      observe(key, position, (await trim(stream, position)) === 'behind');
    } catch {
      // Redis is away, or its answer was lost; reading tells of it.
      trimmedAtMs.delete(key);
    }
  }

  return {
    due: (key) => trimmedAtMs.delete(key),
    run: async (streams, positions) => {
      const beforeMs = performance.now() - CHECK_INTERVAL_MS;
      const due = streams.filter(({ key }) => (trimmedAtMs.get(key) ?? -Infinity) <= beforeMs);
      await Promise.all(
        due.map(async (stream) => {
          const position = positions.get(stream.key);
          if (position !== undefined) await trimOne(stream, position);
        }),
      );
    },
    keepOnly: (streams) => {
      for (const key of trimmedAtMs.keys()) if (!streams.has(key)) trimmedAtMs.delete(key);
      for (const key of behind) if (!streams.has(key)) behind.delete(key);
      metrics.behind.set(behind.size);
    },
  };
}
