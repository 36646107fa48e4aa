import type { Knex } from 'knex';
import { FIRST_STREAM_ID } from './stream-id.ts';

/** How far each usage stream is counted: the id of its last counted entry, by the stream's key. */
export type Positions = ReadonlyMap<string, string>;

type PositionRow = { stream: string; position: string };

/** The stored positions of the given streams; those that have none yet get one before the first entry. */
export async function loadPositions(database: Knex, streams: readonly string[]): Promise<Positions> {
  await database<PositionRow>('usage_stream_positions')
    .insert(streams.toSorted().map((stream) => ({ stream, position: FIRST_STREAM_ID })))
    .onConflict('stream')
    .ignore();
  const rows = await database<PositionRow>('usage_stream_positions').whereIn('stream', streams);
  return byStream(rows);
}

/**
 * The stored positions, held against every other reader until the transaction ends. One that another reader
 * holds is left out instead of waited for: that reader is counting the stream.
 */
export async function lockPositions(transaction: Knex, streams: readonly string[]): Promise<Positions> {
  const rows = await transaction<PositionRow>('usage_stream_positions')
    .whereIn('stream', streams)
    .forUpdate()
    .skipLocked();
  return byStream(rows);
}

/** Stores positions that lockPositions has locked. */
export async function storePositions(transaction: Knex, positions: Positions): Promise<void> {
  await transaction.raw(
    `UPDATE usage_stream_positions AS stored SET position = reached.position
     FROM unnest(:streams::text[], :positions::text[]) AS reached (stream, position)
     WHERE stored.stream = reached.stream`,
    { streams: [...positions.keys()], positions: [...positions.values()] },
  );
}

function byStream(rows: readonly PositionRow[]): Positions {
  return new Map(rows.map(({ stream, position }) => [stream, position]));
}
