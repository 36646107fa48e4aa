import type { Query } from '../../platform/database/query.ts';
import type { MissingBatches } from './gaps.ts';
import type { BatchName, ReadEntry } from '../stream/read-entry.ts';

export type LastSequences = ReadonlyMap<string, SequenceRow>;

/** With the totals that the process stated with that batch; null if it stated none that could be read. */
type SequenceRow = {
  stream: string;
  gateway_id: string;
  last_seq: number;
  batches: number | null;
  requests: number | null;
  points: number | null;
};

/** Longer than any gateway retries a batch, including during an outage of Redis. */
const RETENTION_DAYS = 14;

/** The row of a process that was silent for this long may be deleted, so a missing row is no gap. */
const MAY_BE_DELETED_MS = (RETENTION_DAYS - 1) * 86_400_000;

/** The stream's position must be locked, which keeps other readers from these rows. */
export async function loadSequences(query: Query, entries: readonly ReadEntry[]): Promise<LastSequences> {
  const named = new Map<string, { stream: string; gateway_id: string }>();
  for (const { entry, batch } of entries) {
    if (batch === undefined) continue;
    const name = { stream: entry.stream, gateway_id: batch.gateway_id };
    named.set(keyOf(name), name);
  }
  if (named.size === 0) return new Map();
  const names = [...named.values()];
  const rows = await query<SequenceRow>(
    `SELECT stream, gateway_id, last_seq, batches, requests, points FROM usage_gateway_sequences
     JOIN unnest(:streams::text[], :gatewayIds::text[]) AS named (stream, gateway_id) USING (stream, gateway_id)`,
    { streams: names.map(({ stream }) => stream), gatewayIds: names.map(({ gateway_id }) => gateway_id) },
    'usage_sequences',
  );
  return new Map(rows.map((row) => [keyOf(row), row]));
}

export type Deduplicated = {
  fresh: ReadEntry[];
  repeated: ReadEntry[];
  reached: SequenceRow[];
  missing: MissingBatches[];
};

/**
 * Separates new batches from counted ones, and finds missing ones. A gateway's batches of a stream arrive in order,
 * so its last sequence number decides. An entry that names no batch is new.
 */
export function deduplicate(entries: readonly ReadEntry[], last: LastSequences, nowMs: number): Deduplicated {
  const reached = new Map<string, SequenceRow>();
  const [fresh, repeated, missing]: [ReadEntry[], ReadEntry[], MissingBatches[]] = [[], [], []];
  for (const read of entries) {
    const { batch, entry } = read;
    if (batch === undefined) {
      fresh.push(read);
      continue;
    }
    const row = sequenceAfter(entry.stream, batch);
    const before = reached.get(keyOf(row)) ?? last.get(keyOf(row));
    if (before !== undefined && batch.seq <= before.last_seq) {
      repeated.push(read);
      continue;
    }
    fresh.push(read);
    reached.set(keyOf(row), row);
    const gap = gapBefore(entry.stream, batch, before, nowMs);
    if (gap !== undefined) missing.push(gap);
  }
  return { fresh, repeated, reached: [...reached.values()], missing };
}

function sequenceAfter(stream: string, { gateway_id, seq, before, own }: BatchName): SequenceRow {
  const named = { stream, gateway_id, last_seq: seq };
  if (before === undefined) return { ...named, batches: null, requests: null, points: null };
  return {
    ...named,
    batches: before.batches + 1,
    // Keeps what a gateway states in the range of JSON and bigint.
    requests: Math.min(before.requests + own.requests, Number.MAX_SAFE_INTEGER),
    points: Math.min(before.points + own.points, Number.MAX_SAFE_INTEGER),
  };
}

function gapBefore(
  stream: string,
  { gateway_id, before }: BatchName,
  last: SequenceRow | undefined,
  nowMs: number,
): MissingBatches | undefined {
  if (before === undefined) return undefined;
  if (last === undefined && before.at_ms < nowMs - MAY_BE_DELETED_MS) return undefined;
  if (last !== undefined && last.batches === null) return undefined;
  const known = { batches: last?.batches ?? 0, requests: last?.requests ?? 0, points: last?.points ?? 0 };
  if (before.batches <= known.batches) return undefined;
  return {
    stream,
    gateway_id,
    first_batch: known.batches + 1,
    last_batch: before.batches,
    batches: before.batches - known.batches,
    requests: Math.max(before.requests - known.requests, 0),
    points: Math.max(before.points - known.points, 0),
  };
}

export async function storeSequences(query: Query, rows: readonly SequenceRow[]): Promise<void> {
  await query(
    `INSERT INTO usage_gateway_sequences
       (stream, gateway_id, last_seq, batches, requests, points, counted_at)
     SELECT *, clock_timestamp()
     FROM unnest(:streams::text[], :gatewayIds::text[], :lastSeqs::bigint[], :batches::bigint[],
                 :requests::bigint[], :points::bigint[])
     ON CONFLICT (stream, gateway_id) DO UPDATE
       SET last_seq = excluded.last_seq, batches = excluded.batches, requests = excluded.requests,
           points = excluded.points, counted_at = excluded.counted_at`,
    {
      streams: rows.map(({ stream }) => stream),
      gatewayIds: rows.map(({ gateway_id }) => gateway_id),
      lastSeqs: rows.map(({ last_seq }) => last_seq),
      batches: rows.map(({ batches }) => batches),
      requests: rows.map(({ requests }) => requests),
      points: rows.map(({ points }) => points),
    },
    'usage_store_sequences',
  );
}

export async function deleteInactiveGateways(query: Query): Promise<void> {
  await query(
    `DELETE FROM usage_gateway_sequences
     WHERE counted_at < clock_timestamp() - :days * interval '1 day'`,
    { days: RETENTION_DAYS },
  );
}

function keyOf({ stream, gateway_id }: Pick<SequenceRow, 'stream' | 'gateway_id'>): string {
  return `${stream} ${gateway_id}`;
}
