import type { Knex } from 'knex';
import type { Logger } from '@tollgate/log';
import type { EntryWatch } from '@tollgate/redis/await-entries';
import { createQuery } from '../../platform/database/query.ts';
import { applyEntries } from './apply-entries.ts';
import type { Applied, StreamPart } from './apply-entries.ts';
import type { UsageReaderMetrics } from './metrics.ts';
import { loadPositions } from '../stream/positions.ts';
import { compareStreamIds, nextStreamId, streamIdMs } from '../stream/stream-id.ts';
import type { StreamEntry } from '../stream/stream-entry.ts';
import type { UsageStream } from '../stream/trim-script.ts';
import type { Trimmer } from './trimmer.ts';
import type { StreamBackoff } from './stream-backoff.ts';

type XrangeReply = [id: string, fields: string[]][];

/** XRANGE with one stream per command, as the streams are in different Redis Cluster slots. */
type StreamSource = {
  xrange: (key: string, start: string, end: '+', countToken: 'COUNT', count: number) => Promise<XrangeReply>;
};

export type ReadOptions = {
  database: Knex;
  redis: StreamSource;
  /** How far this process knows each stream to be counted; the stored position may be further. */
  positions: Map<string, string>;
  trimmer: Trimmer;
  backoff: StreamBackoff;
  metrics: UsageReaderMetrics;
  nowMs: () => number;
  logger: Pick<Logger, 'warn' | 'error'>;
};

/** One transaction counts so many entries, or characters of them, and at most one more page of each stream. */
const ENTRIES_PER_ROUND = 2_048;
const CHARACTERS_PER_ROUND = 4_194_304;
const ENTRIES_PER_PAGE = 128;

type Round = {
  entriesLeft: number;
  charactersLeft: number;
  mayHaveMore: boolean;
};

/** `more`: some entries were left. `nothing`: there were none, as far as streams could be read. */
export type ReadOutcome = 'more' | 'counted' | 'nothing';

/**
 * Reads the next entries of all streams, counts them in one transaction and trims the streams. Never throws: a stream
 * that fails backs off, and has its own transaction until it succeeds.
 */
export async function readAndCount(
  options: ReadOptions,
  streams: readonly UsageStream[],
): Promise<ReadOutcome> {
  const { database, positions, trimmer, backoff, nowMs } = options;
  const tried = streams.filter(({ key }) => backoff.isReady(key));
  if (!(await loadUnknownPositions(options, tried))) return 'nothing';
  const round = {
    entriesLeft: ENTRIES_PER_ROUND,
    charactersLeft: CHARACTERS_PER_ROUND,
    mayHaveMore: false,
  };
  const [parts] = await Promise.all([readAll(options, tried, round), trimmer.trimDue(tried, positions)]);
  if (parts.length === 0) return 'nothing';

  const healthy = parts.filter(({ stream }) => !backoff.isFailing(stream));
  const failing = parts.filter(({ stream }) => backoff.isFailing(stream));
  const groups = [healthy, ...failing.map((part) => [part])].filter((group) => group.length > 0);
  const applied = await Promise.all(groups.map((group) => applyEntries(database, group, nowMs())));
  for (const [index, group] of groups.entries()) {
    const outcome = applied[index];
    if (outcome !== undefined) settle(options, group, outcome);
  }
  return round.mayHaveMore && applied.some(({ entries }) => entries > 0) ? 'more' : 'counted';
}

/**
 * Waits until one of the reader's streams has an entry after its position, or for `limitMs` or a little longer, and
 * trims the streams meanwhile. Resolves with the milliseconds waited: 0 if a stream is failing or its position is
 * unknown, in a Redis Cluster, or if Redis is unavailable.
 */
export async function awaitEntries(
  { positions, backoff, trimmer }: Pick<ReadOptions, 'positions' | 'backoff' | 'trimmer'>,
  watch: Pick<EntryWatch, 'wait'> | undefined,
  ownStreams: () => readonly UsageStream[],
  limitMs: number,
): Promise<number> {
  const startedMs = performance.now();
  const waitedMs = () => performance.now() - startedMs;
  if (watch === undefined) return 0;
  do {
    const streams = ownStreams();
    const after = new Map(streams.flatMap(({ key }) => positionOf(positions, backoff, key)));
    if (after.size < streams.length || after.size === 0) return 0;
    try {
      if (await watch.wait(after)) return waitedMs();
    } catch {
      // Reading reports it.
      return 0;
    }
    for (const { key } of streams) backoff.recordSuccess(key);
    await trimmer.trimDue(streams, positions);
  } while (waitedMs() < limitMs);
  return waitedMs();
}

function positionOf(
  positions: ReadonlyMap<string, string>,
  backoff: StreamBackoff,
  stream: string,
): [string, string][] {
  const position = positions.get(stream);
  return position === undefined || backoff.isFailing(stream) ? [] : [[stream, position]];
}

async function loadUnknownPositions(
  { database, positions, trimmer, backoff }: ReadOptions,
  streams: readonly UsageStream[],
): Promise<boolean> {
  const unknown = streams.filter(({ key }) => !positions.has(key));
  if (unknown.length === 0) return true;
  try {
    const stored = await loadPositions(
      createQuery(database),
      unknown.map(({ key }) => key),
    );
    await Promise.all(unknown.map((stream) => loadStart({ positions, trimmer, backoff }, stream, stored)));
    const untold = unknown.flatMap(({ key }) => {
      const found = stored.get(key);
      const isUntold = found?.trimmed === null && positions.get(key) === found.position;
      return isUntold ? [[key, found.position] as const] : [];
    });
    if (untold.length > 0) await trimmer.storeTrimmed(new Map(untold));
    return true;
  } catch (error) {
    for (const { key } of unknown) {
      positions.delete(key);
      backoff.recordFailure(key, error);
    }
    return false;
  }
}

async function loadStart(
  { positions, trimmer, backoff }: Pick<ReadOptions, 'positions' | 'trimmer' | 'backoff'>,
  stream: UsageStream,
  stored: Awaited<ReturnType<typeof loadPositions>>,
): Promise<void> {
  const found = stored.get(stream.key);
  if (found === undefined) return;
  try {
    positions.set(stream.key, await trimmer.startPosition(stream, found));
  } catch (error) {
    backoff.recordFailure(stream.key, error);
  }
}

async function readAll(
  options: ReadOptions,
  streams: readonly UsageStream[],
  round: Round,
): Promise<StreamPart[]> {
  const parts = await Promise.all(streams.map(({ key }) => readOne(options, key, round)));
  return parts.filter((part) => part !== undefined);
}

async function readOne(
  { redis, positions, trimmer, backoff, metrics }: ReadOptions,
  stream: string,
  round: Round,
): Promise<StreamPart | undefined> {
  const after = positions.get(stream);
  // Assigned to another reader since the positions were loaded.
  if (after === undefined) return undefined;
  try {
    const entries = await readPages(redis, stream, after, round);
    const [first] = entries;
    if (first !== undefined) {
      metrics.waitingSinceMs.set(stream, streamIdMs(first.id));
      return { stream, after, trimmed: trimmer.trimmedUpTo(stream), entries };
    }
    metrics.waitingSinceMs.delete(stream);
    backoff.recordSuccess(stream);
  } catch (error) {
    backoff.recordFailure(stream, error);
  }
  return undefined;
}

async function readPages(
  redis: StreamSource,
  stream: string,
  after: string,
  round: Round,
): Promise<StreamEntry[]> {
  const entries: StreamEntry[] = [];
  let answer: XrangeReply;
  do {
    const start = nextStreamId(entries.at(-1)?.id ?? after);
    answer = await redis.xrange(stream, start, '+', 'COUNT', ENTRIES_PER_PAGE);
    for (const [id, fields] of answer) {
      entries.push({ stream, id, fields });
      round.charactersLeft -= fields[1]?.length ?? 0;
    }
    round.entriesLeft -= answer.length;
  } while (answer.length === ENTRIES_PER_PAGE && round.entriesLeft > 0 && round.charactersLeft > 0);
  round.mayHaveMore ||= answer.length === ENTRIES_PER_PAGE;
  return entries;
}

function settle(options: ReadOptions, group: readonly StreamPart[], applied: Applied): void {
  const { positions, trimmer, backoff } = options;
  const { metrics, nowMs } = options;
  for (const { stream, after, entries } of group) {
    const position = applied.positions.get(stream);
    // Another reader is counting it, its row was deleted, or Postgres was rolled back: load the position again.
    if (position === undefined || compareStreamIds(position, after) < 0) positions.delete(stream);
    else {
      positions.set(stream, position);
      trimmer.markDue(stream);
    }
    const countedAtMs = nowMs();
    for (const { id } of entries) {
      if (position === undefined || compareStreamIds(id, position) > 0) break;
      metrics.counted(Math.max(0, countedAtMs - streamIdMs(id)) / 1_000);
    }
    if (applied.failed.has(stream)) backoff.recordFailure(stream, applied.failed.get(stream));
    else backoff.recordSuccess(stream);
  }
  observe(options, applied);
}

function observe(
  { metrics, logger }: Pick<ReadOptions, 'metrics' | 'logger'>,
  { entries, events, repeated, unassigned, missing }: Applied,
): void {
  metrics.entries.inc(entries);
  metrics.events.inc(events);
  metrics.repeated.inc(repeated);
  for (const reason of unassigned) metrics.unassigned.inc({ reason });
  if (unassigned.length > 0) {
    const reasons = [...new Set(unassigned)];
    logger.warn(
      { count: unassigned.length, reasons },
      'some usage is unassigned; see tollgate usage unassigned',
    );
  }
  for (const gap of missing) {
    metrics.gaps.inc({ cause: 'batches_missing' });
    metrics.missingBatches.inc(gap.batches);
    metrics.missingCalls.inc(gap.requests);
    metrics.missingPoints.inc(gap.points);
    logger.error(gap, 'usage batches of a gateway are missing; see tollgate usage gaps');
  }
}
