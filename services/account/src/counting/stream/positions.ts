import { usageStreamKey } from '@tollgate/contracts/usage-stream';
import type { Query } from '../../platform/database/query.ts';
import { lanesOfPayer, lanesOfSamePayers, lockLaneCount } from '../../platform/usage-lanes.ts';
import type { LaneCount } from '../../platform/usage-lanes.ts';
import { FIRST_STREAM_ID, compareStreamIds } from './stream-id.ts';

/** How far each usage stream is counted: the id of its last counted entry, by the stream's key. */
export type Positions = ReadonlyMap<string, string>;

/** `trimmed`: how far Redis was known to be trimmed when the position was stored. */
export type StoredPosition = { position: string; trimmed: string | null };

type PositionRow = { stream: string; position: string };

/** The stored positions; a new stream gets one before its first entry. */
export async function loadPositions(
  query: Query,
  streams: readonly string[],
): Promise<ReadonlyMap<string, StoredPosition>> {
  await insertMissing(query, streams);
  const rows = await query<PositionRow & StoredPosition>(
    `SELECT stream, position, trimmed FROM usage_stream_positions
     LEFT JOIN usage_stream_trims USING (stream) WHERE stream = ANY (CAST(:streams AS text[]))`,
    { streams: [...streams] },
  );
  return new Map(rows.map(({ stream, position, trimmed }) => [stream, { position, trimmed }]));
}

async function insertMissing(query: Query, streams: readonly string[]): Promise<void> {
  await query(
    `INSERT INTO usage_stream_positions (stream, position)
     SELECT stream, :first FROM unnest(CAST(:streams AS text[])) AS stream
     ON CONFLICT (stream) DO NOTHING`,
    { streams: streams.toSorted(), first: FIRST_STREAM_ID },
  );
}

/**
 * Locks the positions of the payer's stream, and of the one that it moves from, so that nothing of them is counted until
 * the transaction ends. By stream.
 */
export async function lockPayerPositions(query: Query, payerId: number): Promise<Positions> {
  return lockStreams(query, lanesOfPayer(await lockLaneCount(query), payerId));
}

/** The same for all payers of a lane. */
export async function lockLanePositions(
  query: Query,
  lane: number,
): Promise<{ count: LaneCount; positions: Positions }> {
  const count = await lockLaneCount(query);
  return { count, positions: await lockStreams(query, lanesOfSamePayers(count, lane)) };
}

/** In one order, so that none waits for another that waits for it. */
export async function lockStreams(query: Query, lanes: readonly number[]): Promise<Positions> {
  const streams = lanes.map(usageStreamKey);
  // A reader makes the row as it starts.
  await insertMissing(query, streams);
  const rows = await query<PositionRow>(
    `SELECT stream, position FROM usage_stream_positions WHERE stream = ANY (CAST(:streams AS text[]))
     ORDER BY stream FOR UPDATE`,
    { streams },
  );
  return new Map(rows.map(({ stream, position }) => [stream, position]));
}

/** The streams whose stored position is before the given one: Postgres has been rolled back. */
export async function findRolledBack(query: Query, positions: Positions): Promise<string[]> {
  const changed = await query<PositionRow>(
    `SELECT stream, stored.position FROM usage_stream_positions AS stored
     JOIN unnest(CAST(:streams AS text[]), CAST(:known AS text[])) AS own (stream, position) USING (stream)
     WHERE stored.position <> own.position`,
    { streams: [...positions.keys()], known: [...positions.values()] },
    'usage_find_rolled_back',
  );
  return changed.flatMap(({ stream, position }) =>
    compareStreamIds(position, positions.get(stream) ?? FIRST_STREAM_ID) < 0 ? [stream] : [],
  );
}

/**
 * Locks the stored positions, except those that another reader has locked: it is counting the stream; and those of new
 * lanes until what payers had used in their former ones is counted (docs/design/settlement.md#more-lanes).
 */
export async function lockPositions(query: Query, streams: readonly string[]): Promise<Positions> {
  const rows = await query<PositionRow>(
    `SELECT stream, position FROM usage_stream_positions
     WHERE stream = ANY (CAST(:streams AS text[])) AND NOT EXISTS (
       SELECT FROM usage_lanes WHERE CAST(substring(stream FROM '[0-9]+') AS integer) >= lanes_before
     ) FOR UPDATE SKIP LOCKED`,
    { streams: [...streams] },
    'usage_lock_positions',
  );
  return new Map(rows.map(({ stream, position }) => [stream, position]));
}

/** The positions must be locked by lockPositions. */
export async function storePositions(
  query: Query,
  positions: Positions,
  trimmed: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  const streams = [...positions.keys()];
  await query(
    `WITH reached AS (
       SELECT * FROM unnest(:streams::text[], :positions::text[], :trimmed::text[])
         AS reached (stream, position, trimmed)
     ), known AS (
       INSERT INTO usage_stream_trims (stream, trimmed)
       SELECT stream, trimmed FROM reached WHERE trimmed IS NOT NULL
       ON CONFLICT (stream) DO UPDATE SET trimmed = excluded.trimmed
     )
     UPDATE usage_stream_positions AS stored SET position = reached.position
     FROM reached WHERE stored.stream = reached.stream`,
    {
      streams,
      positions: [...positions.values()],
      trimmed: streams.map((stream) => trimmed.get(stream) ?? null),
    },
    'usage_store_positions',
  );
}
