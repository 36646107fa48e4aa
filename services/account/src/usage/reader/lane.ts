import type { Knex } from 'knex';
import type { Logger } from '@tollgate/log';
import { createQuery } from '../../platform/database/query.ts';
import { applyEntries } from './apply-entries.ts';
import type { Applied, StreamPart } from './apply-entries.ts';
import type { UsageReaderMetrics } from './metrics.ts';
import { loadPositions } from './stream/positions.ts';
import { compareStreamIds, nextStreamId, streamIdMs } from './stream/stream-id.ts';
import type { StreamEntry } from './stream/stream-entry.ts';
import type { UsageStream } from './stream/trim-script.ts';
import type { Trims } from './stream/trims.ts';
import type { StreamBackoff } from './stream-backoff.ts';

type XrangeAnswer = [id: string, fields: string[]][];

/** As much of a Redis connection as reading takes. One stream per command: they lie in different slots. */
type StreamSource = {
  xrange: (key: string, start: string, end: '+', countToken: 'COUNT', count: number) => Promise<XrangeAnswer>;
};

export type LaneOptions = {
  database: Knex;
  redis: StreamSource;
  /** How far each stream is counted, as far as this process knows; it may be less than what is stored. */
  positions: Map<string, string>;
  trims: Trims;
  backoff: StreamBackoff;
  metrics: UsageReaderMetrics;
  /** By Redis' clock, which the gateways stamp usage by. */
  nowMs: () => number;
  logger: Pick<Logger, 'warn' | 'error'>;
};

/** What one transaction counts: so many entries, and at most a page of each stream beyond that. */
const ENTRIES_PER_ROUND = 512;
const ENTRIES_PER_PAGE = 32;

/** One look at all streams. */
type Round = {
  entriesLeft: number;
  /** Whether a stream may hold more than was read of it. */
  leftSome: boolean;
};

/**
 * Reads what follows in each of the streams, all at once, counts it in one transaction and removes it. Resolves
 * with whether that was as much as one round takes, so that there may be more. Never throws: a stream that fails
 * rests, and the others go on; it is counted in a transaction of its own until it has passed.
 */
export async function countOnce(options: LaneOptions, streams: readonly UsageStream[]): Promise<boolean> {
  const { database, positions, trims, backoff, nowMs } = options;
  const tried = streams.filter(({ key }) => backoff.mayTry(key));
  if (!(await positionsAreKnown(options, tried))) return false;
  const round = { entriesLeft: ENTRIES_PER_ROUND, leftSome: false };
  const [parts] = await Promise.all([readAll(options, tried, round), trims.run(tried, positions)]);
  if (parts.length === 0) return false;

  const steady = parts.filter(({ stream }) => !backoff.has(stream));
  const shaky = parts.filter(({ stream }) => backoff.has(stream));
  const groups = [steady, ...shaky.map((part) => [part])].filter((group) => group.length > 0);
  const applied = await Promise.all(groups.map((group) => applyEntries(database, group, nowMs())));
  for (const [index, group] of groups.entries()) {
    const outcome = applied[index];
    if (outcome !== undefined) settle(options, group, outcome);
  }
  return round.leftSome && applied.some(({ entries }) => entries > 0);
}

async function positionsAreKnown(
  { database, positions, trims, backoff }: LaneOptions,
  streams: readonly UsageStream[],
): Promise<boolean> {
  const unknown = streams.filter(({ key }) => !positions.has(key));
  if (unknown.length === 0) return true;
  try {
    const stored = await loadPositions(
      createQuery(database),
      unknown.map(({ key }) => key),
    );
    await Promise.all(unknown.map((stream) => start({ positions, trims, backoff }, stream, stored)));
    return true;
  } catch (error) {
    for (const { key } of unknown) backoff.failed(key, error);
    return false;
  }
}

async function start(
  { positions, trims, backoff }: Pick<LaneOptions, 'positions' | 'trims' | 'backoff'>,
  stream: UsageStream,
  stored: Awaited<ReturnType<typeof loadPositions>>,
): Promise<void> {
  const found = stored.get(stream.key);
  if (found === undefined) return;
  try {
    positions.set(stream.key, await trims.start(stream, found));
  } catch (error) {
    backoff.failed(stream.key, error);
  }
}

/** The streams in which something came. */
async function readAll(
  options: LaneOptions,
  streams: readonly UsageStream[],
  round: Round,
): Promise<StreamPart[]> {
  const parts = await Promise.all(streams.map(({ key }) => readOne(options, key, round)));
  return parts.filter((part) => part !== undefined);
}

async function readOne(
  { redis, positions, trims, backoff, metrics }: LaneOptions,
  stream: string,
  round: Round,
): Promise<StreamPart | undefined> {
  const after = positions.get(stream);
  // Left to another reader since the positions were looked up.
  if (after === undefined) return undefined;
  try {
    const entries = await readPages(redis, stream, after, round);
    const [first] = entries;
    if (first !== undefined) {
      metrics.waitingSinceMs.set(stream, streamIdMs(first.id));
      return { stream, after, trimmed: trims.trimmed(stream), entries };
    }
    metrics.waitingSinceMs.delete(stream);
    backoff.passed(stream);
  } catch (error) {
    backoff.failed(stream, error);
  }
  return undefined;
}

/** What follows in a stream, page by page as far as the round takes it. */
async function readPages(
  redis: StreamSource,
  stream: string,
  after: string,
  round: Round,
): Promise<StreamEntry[]> {
  const entries: StreamEntry[] = [];
  let answer: XrangeAnswer;
  do {
    const start = nextStreamId(entries.at(-1)?.id ?? after);
    answer = await redis.xrange(stream, start, '+', 'COUNT', ENTRIES_PER_PAGE);
    for (const [id, fields] of answer) entries.push({ stream, id, fields });
    round.entriesLeft -= answer.length;
  } while (answer.length === ENTRIES_PER_PAGE && round.entriesLeft > 0);
  round.leftSome ||= answer.length === ENTRIES_PER_PAGE;
  return entries;
}

function settle(options: LaneOptions, group: readonly StreamPart[], applied: Applied): void {
  const { positions, trims, backoff } = options;
  for (const { stream, after } of group) {
    const position = applied.positions.get(stream);
    // Another reader is counting it, a person has removed its row, or Postgres was set back: it is looked up again.
    if (position === undefined || compareStreamIds(position, after) < 0) positions.delete(stream);
    else {
      positions.set(stream, position);
      trims.due(stream);
    }
    if (applied.failed.has(stream)) backoff.failed(stream, applied.failed.get(stream));
    else backoff.passed(stream);
  }
  observe(options, applied);
}

function observe(
  { metrics, logger }: Pick<LaneOptions, 'metrics' | 'logger'>,
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
      'usage could not be counted; see tollgate usage unassigned',
    );
  }
  for (const gap of missing) {
    metrics.gaps.inc({ cause: 'batches_missing' });
    metrics.missingBatches.inc(gap.batches);
    metrics.missingCalls.inc(gap.requests);
    metrics.missingPoints.inc(gap.points);
    logger.error(gap, 'batches of a gateway are missing in a usage stream; see tollgate usage gaps');
  }
}
