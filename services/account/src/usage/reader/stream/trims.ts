import type { Logger } from '@tollgate/log';
import type { UsageReaderMetrics } from '../metrics.ts';
import type { StoredPosition } from './positions.ts';
import type { SetBacks } from '../../gaps/set-backs.ts';
import type { TrimStream, UsageStream } from './trim-script.ts';

/** Every stream is trimmed this often though nothing was counted: it finds what has been set back. */
const CHECK_INTERVAL_MS = 10_000;

export type Trims = {
  /** What is counted of the stream has grown. */
  due: (key: string) => void;
  /** How far Redis is known to be trimmed; undefined where that isn't known. */
  trimmed: (key: string) => string | undefined;
  /**
   * Trims what is due among these streams. Never throws: what fails stays due. A position that Redis is ahead of is
   * removed from the map: it is to be looked up again.
   */
  run: (streams: readonly UsageStream[], positions: Map<string, string>) => Promise<void>;
  /**
   * From where a stream is to be read whose stored position was looked up: neither Redis nor Postgres has been set
   * back behind the other then, or that is told of and made good.
   */
  start: (stream: UsageStream, stored: StoredPosition) => Promise<string>;
  /** Forgets all streams but these. */
  keepOnly: (streams: ReadonlySet<string>) => void;
};

/** Removes what is counted from the streams. Positions only ever name entries whose transaction is committed. */
export function createTrims(options: {
  trim: TrimStream;
  setBacks: SetBacks;
  metrics: Pick<UsageReaderMetrics, 'behind'>;
  logger: Pick<Logger, 'error'>;
}): Trims {
  const { trim, setBacks, metrics, logger } = options;
  /** When each stream was last trimmed to its position, by performance.now(); none where that is due. */
  const trimmedAtMs = new Map<string, number>();
  /** How far Redis has said that each stream is trimmed. */
  const known = new Map<string, string>();
  const behind = new Set<string>();

  function observe(key: string, position: string, isBehind: boolean): void {
    if (isBehind && !behind.has(key)) {
      logger.error({ stream: key, position }, 'a usage stream is behind what is counted of it; see ADR 0008');
    }
    if (isBehind) behind.add(key);
    else behind.delete(key);
    metrics.behind.set(behind.size);
  }

  /** Gives how far the stream is trimmed where that is beyond the position. */
  async function trimTo(stream: UsageStream, position: string): Promise<string | null> {
    const { key } = stream;
    const { outcome, trimmed } = await trim(stream, position, known.get(key));
    if (outcome === 'redis_set_back') {
      await setBacks.ofRedis(stream, position);
      known.delete(key);
      return trimTo(stream, position);
    }
    observe(key, position, outcome === 'behind');
    if (outcome === 'trimmed') known.set(key, position);
    return outcome === 'ahead' ? trimmed : null;
  }

  async function trimOne(stream: UsageStream, positions: Map<string, string>): Promise<void> {
    const { key } = stream;
    const position = positions.get(key);
    if (position === undefined) return;
    // Before the answer: what is counted meanwhile makes it due again.
    trimmedAtMs.set(key, performance.now());
    try {
      if ((await trimTo(stream, position)) !== null && positions.get(key) === position) positions.delete(key);
    } catch {
      // Redis or Postgres is away, or an answer was lost; reading tells of it.
      trimmedAtMs.delete(key);
    }
  }

  return {
    due: (key) => trimmedAtMs.delete(key),
    trimmed: (key) => known.get(key),
    run: async (streams, positions) => {
      const beforeMs = performance.now() - CHECK_INTERVAL_MS;
      const due = streams.filter(({ key }) => (trimmedAtMs.get(key) ?? -Infinity) <= beforeMs);
      await Promise.all(due.map((stream) => trimOne(stream, positions)));
    },
    start: async (stream, { position, trimmed }) => {
      if (trimmed !== null) known.set(stream.key, trimmed);
      const ahead = await trimTo(stream, position);
      if (ahead !== null) return setBacks.ofPostgres(stream, ahead);
      if (trimmed === null) await setBacks.remember(stream, position);
      return position;
    },
    keepOnly: (streams) => {
      for (const key of trimmedAtMs.keys()) if (!streams.has(key)) trimmedAtMs.delete(key);
      for (const key of known.keys()) if (!streams.has(key)) known.delete(key);
      for (const key of behind) if (!streams.has(key)) behind.delete(key);
      metrics.behind.set(behind.size);
    },
  };
}
