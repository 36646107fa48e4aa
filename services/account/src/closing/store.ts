import type { CreditSource } from '../billing/credits/allocation.ts';
import type { PeriodState, Use } from '../billing/credits/settlement.ts';
import { includedPoints, rolloverPointsMax } from '../billing/periods/limits.ts';
import type { Query } from '../platform/database/query.ts';

/**
 * False if another transaction has locked the account. Leaves the notice of changed entitlements to the worker
 * (./notices.ts).
 */
export async function lockAccountIfFree(query: Query, accountId: number): Promise<boolean> {
  const rows = await query(
    `SELECT set_config('tollgate.entitlement_notice', 'later', true)
     FROM accounts WHERE account_id = :accountId FOR NO KEY UPDATE SKIP LOCKED`,
    { accountId },
    'closing_lock_account',
  );
  return rows.length > 0;
}

export type Grant = {
  credit_id: number;
  source: CreditSource;
  priority: number;
  created_at: Date;
  usable_from: Date;
  expires_at: Date | null;
  void_requested_at: Date | null;
  void_to: string | null;
  transfer_to: number | null;
  voided_at: Date | null;
  purchase_id: number | null;
  points_remaining: number;
  /** Of further points: the period that they belong to. */
  overage_period_id: number | null;
};

const GRANTS_SQL = `
  SELECT credit_id, source, priority, created_at, usable_from, expires_at, void_requested_at, void_to, transfer_to,
         voided_at, purchase_id, points_remaining, CASE WHEN source = 'overage' THEN (
           SELECT period_id FROM overage_grants WHERE overage_grants.credit_id = credit_grants.credit_id
         ) END AS overage_period_id
  FROM credit_grants WHERE account_id = :accountId`;

/** Those that have points, or are to be marked as void. */
export function lockLiveGrants(query: Query, accountId: number): Promise<Grant[]> {
  return query<Grant>(
    `${GRANTS_SQL} AND (points_remaining > 0 OR void_requested_at IS NOT NULL AND voided_at IS NULL)
     ORDER BY credit_id FOR NO KEY UPDATE`,
    { accountId },
    'closing_lock_grants',
  );
}

/** `points` are its last ones, which can't be used from the cut on. */
export type Reduction = { reduction_id: number; credit_id: number; points: number; points_remaining: number };

/** Those up to a cut that aren't settled, in the order in which they were made. The account is locked. */
export function findReductions(query: Query, accountId: number, at: Date): Promise<Reduction[]> {
  return query<Reduction>(
    `SELECT reduction_id, credit_id, reduction.points, points_remaining
     FROM credit_reductions AS reduction JOIN credit_grants USING (credit_id)
     WHERE reduction.account_id = :accountId AND reduced_at IS NULL AND at <= :at ORDER BY reduction_id`,
    { accountId, at },
    'closing_reductions',
  );
}

export async function markReduced(query: Query, reductionId: number, points: number): Promise<void> {
  await query(
    `UPDATE credit_reductions SET reduced_at = clock_timestamp(), points_voided = :points
     WHERE reduction_id = :reductionId`,
    { reductionId, points },
  );
}

export function lockGrants(query: Query, accountId: number, ids: readonly number[]): Promise<Grant[]> {
  return query<Grant>(
    `${GRANTS_SQL} AND credit_id = ANY (CAST(:ids AS bigint[])) ORDER BY credit_id FOR NO KEY UPDATE`,
    { accountId, ids },
  );
}

/** Of the account's cuts that aren't resolved, the first one. */
export async function findNextCut(query: Query, accountId: number): Promise<Date | undefined> {
  const rows = await query<{ at: Date }>(
    'SELECT at FROM credit_cuts WHERE account_id = :accountId AND resolved_at IS NULL ORDER BY at LIMIT 1',
    { accountId },
  );
  return rows[0]?.at;
}

/**
 * Usage must be settled up to such a cut before anything later is: its instant has passed, or usage after it is counted.
 */
export async function hasPendingCut(query: Query, accountId: number, countedUntil: Date): Promise<boolean> {
  const rows = await query(
    `SELECT FROM credit_cuts AS cut
     WHERE account_id = :accountId AND resolved_at IS NULL AND (at <= :countedUntil OR EXISTS (
       SELECT FROM credit_cut_points AS recorded WHERE recorded.account_id = cut.account_id AND recorded.at = cut.at))
     LIMIT 1`,
    { accountId, countedUntil },
    'closing_pending_cut',
  );
  return rows.length > 0;
}

/**
 * Records a cut of an account without usage after it: what is counted is what was used before. One statement, because
 * the usage reader records it in the transaction that counts later usage.
 */
export async function recordCut(query: Query, accountId: number, at: Date): Promise<void> {
  await query(
    `INSERT INTO credit_cut_points (account_id, at, period_id, points)
     SELECT account_id, :at, period_id, coalesce(points, 0)
     FROM period_closings LEFT JOIN usage_totals USING (period_id)
     WHERE account_id = :accountId AND NOT EXISTS (
       SELECT FROM credit_cut_points AS recorded WHERE recorded.account_id = :accountId AND recorded.at = :at)
     ON CONFLICT DO NOTHING`,
    { accountId, at },
  );
}

export async function resolveCut(query: Query, accountId: number, at: Date): Promise<void> {
  await query(
    'UPDATE credit_cuts SET resolved_at = clock_timestamp() WHERE account_id = :accountId AND at = :at',
    { accountId, at },
  );
}

type StateRow = Omit<PeriodState, 'included'> & { description: Record<string, unknown> };

const STATE_COLUMNS = `period.period_id, period.description,
  coalesce(credited.settled_points, 0) AS settled_points, coalesce(credited.overuse_points, 0) AS overuse_points,
  coalesce(credited.carried_points, 0) AS carried_points`;

/** The open periods at a cut, oldest first. */
export async function findPeriodsAtCut(query: Query, accountId: number, at: Date): Promise<PeriodState[]> {
  const rows = await query<StateRow>(
    `SELECT ${STATE_COLUMNS}, recorded.points
     FROM credit_cut_points AS recorded
     JOIN period_closings USING (period_id)
     JOIN billing_periods AS period USING (period_id)
     LEFT JOIN period_credits AS credited USING (period_id)
     WHERE recorded.account_id = :accountId AND recorded.at = :at
     ORDER BY period.started_at`,
    { accountId, at },
  );
  return rows.map(stateOf);
}

/** `rollover_max`: null if nothing is carried over to the next period. */
export type PeriodToSettle = PeriodState & { ends_at: Date; rollover_max: number | null };

/**
 * Undefined if the period isn't in that state. Its points stay as they are until the transaction ends: the first lock
 * holds up a first row of totals, whose foreign key needs the period, the second one changes of that row.
 */
export async function lockPeriod(
  query: Query,
  periodId: number,
  state: 'open' | 'closed',
): Promise<PeriodToSettle | undefined> {
  await query(
    'SELECT FROM billing_periods WHERE period_id = :periodId FOR UPDATE',
    { periodId },
    'closing_lock_period',
  );
  const totals = await query<{ points: number }>(
    'SELECT points FROM usage_totals WHERE period_id = :periodId FOR UPDATE',
    { periodId },
    'closing_lock_totals',
  );
  const rows = await query<StateRow & { ends_at: Date }>(
    `SELECT ${STATE_COLUMNS}, :points::bigint AS points, coalesce(ends_at, period_end_of_use(period)) AS ends_at
     FROM billing_periods AS period
     LEFT JOIN period_closings AS closing USING (period_id)
     LEFT JOIN period_credits AS credited USING (period_id)
     WHERE period_id = :periodId
       AND CASE :state::text WHEN 'open' THEN closing.period_id IS NOT NULL ELSE closed_at IS NOT NULL END`,
    { periodId, points: totals[0]?.points ?? 0, state },
    'closing_period',
  );
  return rows.map(({ ends_at, ...row }) => ({
    ...stateOf(row),
    ends_at,
    rollover_max: rolloverPointsMax(row.description),
  }))[0];
}

function stateOf({ description, ...state }: StateRow): PeriodState {
  return { ...state, included: includedPoints(description) };
}

export async function savePeriods(query: Query, periods: readonly CarriedOveruse[]): Promise<void> {
  if (periods.length === 0) return;
  await query(
    `INSERT INTO period_credits (period_id, settled_points, overuse_points, carried_points)
     SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:settled AS bigint[]), CAST(:overuse AS bigint[]),
       CAST(:carried AS bigint[])) ORDER BY 1
     ON CONFLICT (period_id) DO UPDATE SET settled_points = excluded.settled_points,
       overuse_points = excluded.overuse_points, carried_points = excluded.carried_points`,
    {
      ids: periods.map(({ period_id }) => period_id),
      settled: periods.map(({ settled_points }) => settled_points),
      overuse: periods.map(({ overuse_points }) => overuse_points),
      carried: periods.map(({ carried_points }) => carried_points),
    },
  );
}

export async function saveClosed(query: Query, period: PeriodState): Promise<void> {
  await query(
    `WITH closed AS (DELETE FROM period_closings WHERE period_id = :period_id)
     INSERT INTO period_credits AS credited
       (period_id, settled_points, overuse_points, carried_points, closed_at, closed_points)
     VALUES (:period_id, :settled_points, :overuse_points, :carried_points, clock_timestamp(), :points)
     ON CONFLICT (period_id) DO UPDATE SET settled_points = excluded.settled_points,
       overuse_points = excluded.overuse_points, carried_points = excluded.carried_points,
       closed_points = excluded.closed_points,
       closed_at = coalesce(credited.closed_at, excluded.closed_at)`,
    period,
    'closing_save_closed',
  );
}

/** Periods of the account, open or closed, whose overuse the next purchase pays; oldest first. */
export function findCarriedOveruse(query: Query, accountId: number): Promise<CarriedOveruse[]> {
  return query<CarriedOveruse>(
    `SELECT period_id, settled_points, overuse_points, carried_points
     FROM billing_periods JOIN period_credits USING (period_id)
     WHERE account_id = :accountId AND carried_points > 0 ORDER BY started_at`,
    { accountId },
  );
}

export type CarriedOveruse = Omit<PeriodState, 'included' | 'points'>;

/** What a period leaves for the next one is to be granted or corrected. */
export async function insertCarryOver(query: Query, accountId: number, periodId: number): Promise<void> {
  await query(
    `INSERT INTO credit_carry_overs (period_id, account_id) VALUES (:periodId, :accountId) ON CONFLICT DO NOTHING`,
    { accountId, periodId },
  );
}

/** False if it isn't to be done any more. */
export async function takeCarryOver(query: Query, periodId: number): Promise<boolean> {
  const rows = await query('DELETE FROM credit_carry_overs WHERE period_id = :periodId RETURNING period_id', {
    periodId,
  });
  return rows.length > 0;
}

/** `expires_at`: the end of the next period, exclusive. */
export type Carrying = { included: number | null; points: number; rollover_max: number; expires_at: Date };

/** Undefined if nothing is carried over: no period follows, or the plan doesn't say so. */
export async function findCarrying(query: Query, periodId: number): Promise<Carrying | undefined> {
  const rows = await query<{ description: Record<string, unknown>; points: number; expires_at: Date }>(
    `SELECT period.description, closed_points AS points, next.ended_at + interval '1 second' AS expires_at
     FROM billing_periods AS period JOIN period_credits USING (period_id)
     CROSS JOIN LATERAL (
       SELECT ended_at FROM billing_periods AS later
       WHERE later.account_id = period.account_id AND later.started_at > period.started_at
         AND later.started_at <= period.ended_at + greatest(period.grace_sec, 86400) * interval '1 second'
       ORDER BY started_at LIMIT 1
     ) AS next
     WHERE period_id = :periodId AND closed_points IS NOT NULL`,
    { periodId },
  );
  return rows.flatMap(({ description, ...row }) => {
    const rollover_max = rolloverPointsMax(description);
    return rollover_max === null ? [] : [{ ...row, rollover_max, included: includedPoints(description) }];
  })[0];
}

/** Grants that a period left for the next one; `taken_back` by corrections. `key` is that of the first one. */
export function findCarried(
  query: Query,
  accountId: number,
  key: string,
): Promise<{ credit_id: number; points: number; points_remaining: number; taken_back: number }[]> {
  return query(
    `SELECT credit_id, points, points_remaining, CAST(coalesce((
       SELECT sum(moved.points) FROM credit_movements AS moved
       WHERE moved.credit_id = credit_grants.credit_id AND reason = 'carry_over_corrected'
     ), 0) AS bigint) AS taken_back
     FROM credit_grants
     WHERE account_id = :accountId AND reporter = 'closing'
       AND (idempotency_key = :key OR starts_with(idempotency_key, :key || ':'))
     ORDER BY credit_id`,
    { accountId, key },
  );
}

/** False if none of the period's is left. */
export async function takeCorrections(query: Query, periodId: number): Promise<boolean> {
  const rows = await query(
    'DELETE FROM credit_corrections WHERE period_id = :periodId RETURNING correction_id',
    { periodId },
  );
  return rows.length > 0;
}

/** Further points that ended unused with their period, by the movement that ended them. */
export type Unused = {
  movement_id: number;
  credit_id: number;
  overage_period_id: number;
  points: number;
  /** Where they went. */
  from_ledger: string;
  /** When they ended. */
  at: Date;
  /** How many more the period may use by its cap. */
  room: number;
};

/** Those of periods that have ended by then, less what was brought back; the last one first. */
export function findUnused(query: Query, periodIds: readonly number[], endedBy: Date): Promise<Unused[]> {
  return query<Unused>(
    `SELECT ended.movement_id, credit_id, period_id AS overage_period_id, ended.points, from_ledger, cap_points - used.points AS room,
       least(expires_at, void_requested_at) AS at
     FROM billing_periods JOIN period_overages USING (period_id) JOIN overage_grants USING (period_id)
     JOIN credit_grants USING (credit_id)
     CROSS JOIN LATERAL (
       SELECT movement_id, to_ledger AS from_ledger, points - CAST(coalesce((
         SELECT sum(points) FROM credit_movements AS back WHERE back.corrects_movement_id = moved.movement_id
       ), 0) AS bigint) AS points
       FROM credit_movements AS moved
       WHERE moved.credit_id = overage_grants.credit_id AND from_ledger = 'grant' AND to_ledger <> 'used'
     ) AS ended
     CROSS JOIN LATERAL (
       SELECT CAST(coalesce(sum(CASE WHEN to_ledger = 'used' THEN points ELSE -points END), 0) AS bigint) AS points
       FROM credit_movements AS moved JOIN overage_grants AS own USING (credit_id)
       WHERE own.period_id = period_overages.period_id AND 'used' IN (from_ledger, to_ledger)
     ) AS used
     WHERE period_id = ANY (CAST(:periodIds AS bigint[])) AND ended.points > 0 AND cap_points > used.points
       AND ended_at + interval '1 second' <= :endedBy
     ORDER BY ended.movement_id DESC`,
    { periodIds, endedBy },
  );
}

/** What a period took from grants, less what was given back, oldest first. */
export function findUses(query: Query, periodId: number): Promise<Use[]> {
  return query<Use>(
    `SELECT movement_id, credit_id, points - CAST(coalesce((
       SELECT sum(points) FROM credit_movements AS back WHERE back.corrects_movement_id = used.movement_id
     ), 0) AS bigint) AS points
     FROM credit_movements AS used WHERE period_id = :periodId AND to_ledger = 'used' ORDER BY movement_id`,
    { periodId },
  );
}

export type Movement = {
  credit_id: number;
  from_ledger: string;
  to_ledger: string;
  points: number;
  reason: string;
  period_id: number | null;
  corrects_movement_id: number | null;
};

/** `at`: the instant that they are dated at. */
export async function insertMovements(
  query: Query,
  accountId: number,
  at: Date,
  movements: readonly Movement[],
): Promise<void> {
  if (movements.length === 0) return;
  await query(
    `INSERT INTO credit_movements
       (account_id, at, actor, credit_id, from_ledger, to_ledger, points, reason, period_id, corrects_movement_id)
     SELECT :accountId, :at, 'closing', moved.* FROM unnest(CAST(:credit_ids AS bigint[]), CAST(:from AS text[]),
       CAST(:to AS text[]), CAST(:points AS bigint[]), CAST(:reasons AS text[]), CAST(:period_ids AS bigint[]),
       CAST(:corrects AS bigint[])) AS moved`,
    {
      accountId,
      at,
      credit_ids: movements.map(({ credit_id }) => credit_id),
      from: movements.map(({ from_ledger }) => from_ledger),
      to: movements.map(({ to_ledger }) => to_ledger),
      points: movements.map(({ points }) => points),
      reasons: movements.map(({ reason }) => reason),
      period_ids: movements.map(({ period_id }) => period_id),
      corrects: movements.map(({ corrects_movement_id }) => corrects_movement_id),
    },
  );
}

export async function markVoid(query: Query, creditId: number, points: number): Promise<void> {
  await query(
    `UPDATE credit_grants SET voided_at = clock_timestamp(), points_voided = :points WHERE credit_id = :creditId`,
    { creditId, points },
  );
}
