import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../platform/database/query.ts';

/** A limit on attempts in a window that begins with the first one. */
export type AttemptLimit = {
  /** For instance `sign-in address 203.0.113.7`; stored as a hash. */
  subject: string;
  /** Undefined: counted without a limit. */
  max: number | undefined;
  windowSec: number;
};

/** `counts` are in the order of the limits, this attempt included; Infinity if it was refused without being counted. */
export type Taken = { counts: number[]; exceeded: AttemptLimit[]; retryAfterSec: number };

export type AttemptCounts = {
  /** Counts before the attempt is made, so that concurrent ones can't pass the limit. Doesn't lengthen the window. */
  take: (limits: readonly AttemptLimit[]) => Promise<Taken>;
  /** For an attempt that the limits aren't meant for, such as a correct password. */
  giveBack: (limits: readonly AttemptLimit[]) => Promise<void>;
};

/** Subjects over a limit that a process remembers, to refuse them without a query. */
const REMEMBERED_MAX = 10_000;

type Row = { subject: string; attempts: number; rest_sec: number };

/**
 * `query` isn't a transaction's: counts outlive a rollback (docs/design/identity.md). Locks rows in key order, against deadlocks.
 */
export function createAttemptCounts(query: Query): AttemptCounts {
  const remembered = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  function known(limits: readonly AttemptLimit[]): Taken | undefined {
    const untilsMs = limits.map(({ subject }) => remembered.get(keyOf(subject)) ?? 0);
    const nowMs = Date.now();
    const over = limits.filter((_, index) => (untilsMs[index] ?? 0) > nowMs);
    if (over.length === 0) return undefined;
    return {
      counts: limits.map(() => Infinity),
      exceeded: over,
      retryAfterSec: secondsUp((Math.max(...untilsMs) - nowMs) / 1_000),
    };
  }

  return {
    take: async (limits) => {
      const already = known(limits);
      if (already !== undefined) return already;
      const rows = new Map((await count(query, limits)).map((row) => [row.subject, row]));
      const found = limits.map((limit) => ({ limit, row: rows.get(keyOf(limit.subject)) }));
      const over = found.filter(({ limit, row }) => (row?.attempts ?? 0) > (limit.max ?? Infinity));
      for (const { row } of over) {
        if (row === undefined) continue;
        remembered.set(row.subject, Date.now() + row.rest_sec * 1_000);
      }
      return {
        counts: found.map(({ row }) => row?.attempts ?? 0),
        exceeded: over.map(({ limit }) => limit),
        retryAfterSec: secondsUp(Math.max(0, ...over.map(({ row }) => row?.rest_sec ?? 0))),
      };
    },
    giveBack: async (limits) => {
      await query(
        `WITH locked AS (
           SELECT subject FROM attempt_counts WHERE subject = ANY (CAST(:subjects AS text[]))
           ORDER BY subject FOR UPDATE
         )
         UPDATE attempt_counts SET attempts = attempts - 1 FROM locked
         WHERE attempt_counts.subject = locked.subject AND attempts > 0`,
        { subjects: limits.map(({ subject }) => keyOf(subject)) },
      );
    },
  };
}

/**
 * `detail` only for a limit on its own: naming one of several would tell what the others still allow.
 * @throws {Problem} too_many_requests
 */
export function refuseExceeded(
  { exceeded, retryAfterSec }: Taken,
  detail = 'Too many attempts. Try again later.',
): void {
  if (exceeded.length === 0) return;
  throw new Problem('too_many_requests', {
    detail,
    headers: { 'retry-after': String(retryAfterSec) },
  });
}

function count(query: Query, limits: readonly AttemptLimit[]): Promise<Row[]> {
  return query<Row>(
    `INSERT INTO attempt_counts AS counted (subject, attempts, window_ends_at)
     SELECT subject, 1, clock_timestamp() + window_sec * interval '1 second'
     FROM unnest(CAST(:subjects AS text[]), CAST(:windows AS integer[])) AS taken (subject, window_sec)
     ORDER BY subject
     ON CONFLICT (subject) DO UPDATE SET
       attempts = CASE WHEN counted.window_ends_at <= clock_timestamp() THEN 1 ELSE counted.attempts + 1 END,
       window_ends_at = CASE WHEN counted.window_ends_at <= clock_timestamp() THEN excluded.window_ends_at
                             ELSE counted.window_ends_at END
     RETURNING subject, attempts,
       CAST(extract(epoch FROM window_ends_at - clock_timestamp()) AS float8) AS rest_sec`,
    {
      subjects: limits.map(({ subject }) => keyOf(subject)),
      windows: limits.map(({ windowSec }) => windowSec),
    },
  );
}

/** Hashed: keys have one length, and the table is no list of email addresses. */
function keyOf(subject: string): string {
  return createHash('sha256').update(subject).digest('base64url');
}

function secondsUp(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}
