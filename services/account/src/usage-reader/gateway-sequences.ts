import type { Knex } from 'knex';
import type { Query } from '../database/query.ts';
import type { ReadEntry } from './read-entry.ts';

/** The numbers of the last batches counted, by stream and gateway process. */
export type LastSequences = ReadonlyMap<string, SequenceRow>;

type SequenceRow = { stream: string; gateway_id: string; last_seq: number };

/**
 * A gateway process that has written nothing to a stream for so long is forgotten there. It must be longer than
 * any gateway tries to send one batch again, over an outage of Redis too.
 */
const FORGET_AFTER_DAYS = 14;

/**
 * The last counted batches of the gateways that entries come from. The stream's position must be locked: it is
 * what keeps other readers from these rows.
 */
export async function loadSequences(
  transaction: Knex,
  entries: readonly ReadEntry[],
): Promise<LastSequences> {
  const named = entries.filter(({ batch }) => batch !== undefined);
  if (named.length === 0) return new Map();
  const { rows } = await transaction.raw<{ rows: SequenceRow[] }>(
    `SELECT stream, gateway_id, last_seq FROM usage_gateway_sequences
     JOIN (SELECT DISTINCT * FROM unnest(:streams::text[], :gatewayIds::text[]) AS named (stream, gateway_id))
       AS wanted USING (stream, gateway_id)`,
    {
      streams: named.map(({ entry }) => entry.stream),
      gatewayIds: named.map(({ batch }) => batch?.gateway_id ?? ''),
    },
  );
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/**
 * Parts the batches that come for the first time from those that are counted already. A gateway's batches of one
 * stream come in the order of their numbers, so the last one tells. An entry that names no batch is new.
 */
export function partRepeated(
  entries: readonly ReadEntry[],
  last: LastSequences,
): { fresh: ReadEntry[]; repeated: ReadEntry[]; reached: SequenceRow[] } {
  const reached = new Map<string, SequenceRow>();
  const fresh: ReadEntry[] = [];
  const repeated: ReadEntry[] = [];
  for (const read of entries) {
    if (read.batch === undefined) {
      fresh.push(read);
      continue;
    }
    const { gateway_id, seq } = read.batch;
    const row = { stream: read.entry.stream, gateway_id, last_seq: seq };
    const before = reached.get(keyOf(row)) ?? last.get(keyOf(row));
    if (before !== undefined && seq <= before.last_seq) repeated.push(read);
    else {
      fresh.push(read);
      reached.set(keyOf(row), row);
    }
  }
  return { fresh, repeated, reached: [...reached.values()] };
}

/** Stores what partRepeated has reached. */
export async function storeSequences(transaction: Knex, rows: readonly SequenceRow[]): Promise<void> {
  await transaction.raw(
    `INSERT INTO usage_gateway_sequences (stream, gateway_id, last_seq, counted_at)
     SELECT stream, gateway_id, last_seq, clock_timestamp()
     FROM unnest(:streams::text[], :gatewayIds::text[], :lastSeqs::bigint[]) AS reached (stream, gateway_id, last_seq)
     ON CONFLICT (stream, gateway_id) DO UPDATE
       SET last_seq = excluded.last_seq, counted_at = excluded.counted_at`,
    {
      streams: rows.map(({ stream }) => stream),
      gatewayIds: rows.map(({ gateway_id }) => gateway_id),
      lastSeqs: rows.map(({ last_seq }) => last_seq),
    },
  );
}

/** Removes what is kept of gateways that are long gone. */
export async function forgetGoneGateways(query: Query): Promise<void> {
  await query(
    `DELETE FROM usage_gateway_sequences
     WHERE counted_at < clock_timestamp() - :days * interval '1 day'`,
    { days: FORGET_AFTER_DAYS },
  );
}

function keyOf({ stream, gateway_id }: Pick<SequenceRow, 'stream' | 'gateway_id'>): string {
  return `${stream} ${gateway_id}`;
}
