import type { Query } from '../../../platform/database/query.ts';
import { FIRST_STREAM_ID, compareStreamIds } from './stream-id.ts';

/** How far each usage stream is counted: the id of its last counted entry, by the stream's key. */
export type Positions = ReadonlyMap<string, string>;

/** A stored position, and how far Redis was known to be trimmed when it was stored; null where it wasn't. */
export type StoredPosition = { position: string; trimmed: string | null };

type PositionRow = { stream: string; position: string };

/** The stored positions of the given streams; those that have none yet get one before the first entry. */
export async function loadPositions(
  query: Query,
  streams: readonly string[],
): Promise<ReadonlyMap<string, StoredPosition>> {
  await query(
    `INSERT INTO usage_stream_positions (stream, position)
     SELECT stream, :first FROM unnest(CAST(:streams AS text[])) AS stream
     ON CONFLICT (stream) DO NOTHING`,
    { streams: streams.toSorted(), first: FIRST_STREAM_ID },
  );
  const rows = await query<PositionRow & StoredPosition>(
    `SELECT stream, position, trimmed FROM usage_stream_positions
     LEFT JOIN usage_stream_trims USING (stream) WHERE stream = ANY (CAST(:streams AS text[]))`,
    { streams: [...streams] },
  );
  return new Map(rows.map(({ stream, position, trimmed }) => [stream, { position, trimmed }]));
}

/** Those of the given positions that the stored ones are before: Postgres has been set back. */
export async function findSetBack(query: Query, positions: Positions): Promise<string[]> {
  const rows = await query<PositionRow>(
    'SELECT stream, position FROM usage_stream_positions WHERE stream = ANY (CAST(:streams AS text[]))',
    { streams: [...positions.keys()] },
  );
  return rows.flatMap(({ stream, position }) =>
    compareStreamIds(position, positions.get(stream) ?? FIRST_STREAM_ID) < 0 ? [stream] : [],
  );
}

/**
 * The stored positions, held against every other reader until the transaction ends. One that another reader
 * holds is left out instead of waited for: that reader is counting the stream.
 */
export async function lockPositions(query: Query, streams: readonly string[]): Promise<Positions> {
  const rows = await query<PositionRow>(
    `SELECT stream, position FROM usage_stream_positions
     WHERE stream = ANY (CAST(:streams AS text[])) FOR UPDATE SKIP LOCKED`,
    { streams: [...streams] },
  );
  return new Map(rows.map(({ stream, position }) => [stream, position]));
}

/** Stores positions that lockPositions has locked, and how far Redis is known to be trimmed where it is. */
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
  );
}
