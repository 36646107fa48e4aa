/** `overage`: points beyond the included ones, which are charged by use once the period is closed. */
export const CREDIT_SOURCES = ['purchase', 'promotion', 'compensation', 'carry_over', 'overage'] as const;

export type CreditSource = (typeof CREDIT_SOURCES)[number];

/** What the order of use depends on. */
export type OrderedGrant = {
  credit_id: number;
  source: CreditSource;
  /** 0 to 100, lower first. */
  priority: number;
  expires_at: Date | null;
  created_at: Date;
};

export type Taken = { credit_id: number; points: number };

/** What was given goes before what was bought, and that before what use alone makes cost money. */
const SOURCE_RANKS: Readonly<Record<CreditSource, number>> = {
  promotion: 0,
  compensation: 0,
  carry_over: 1,
  purchase: 2,
  overage: 3,
};

/** Overage last; by priority, then the sooner expiry, the source, the age. Total: the ID decides between equals. */
export function inOrderOfUse<Grant extends OrderedGrant>(grants: readonly Grant[]): Grant[] {
  return grants.toSorted(
    (one, other) =>
      Number(one.source === 'overage') - Number(other.source === 'overage') ||
      one.priority - other.priority ||
      compare(expiryMs(one), expiryMs(other)) ||
      SOURCE_RANKS[one.source] - SOURCE_RANKS[other.source] ||
      compare(one.created_at.getTime(), other.created_at.getTime()) ||
      one.credit_id - other.credit_id,
  );
}

/**
 * Takes `demand` points from grants that are usable at the time, in the order given. `overuse` is what they can't cover.
 */
export function allocate(
  demand: number,
  usable: readonly { credit_id: number; points_remaining: number }[],
): { taken: Taken[]; overuse: number } {
  let open = demand;
  const taken: Taken[] = [];
  for (const { credit_id, points_remaining } of usable) {
    const points = Math.min(open, points_remaining);
    if (points === 0) continue;
    taken.push({ credit_id, points });
    open -= points;
  }
  return { taken, overuse: open };
}

/** The grants with what is left of them then. */
export function afterTaking<Grant extends { credit_id: number; points_remaining: number }>(
  grants: readonly Grant[],
  taken: readonly Taken[],
): Grant[] {
  const takenOf = new Map(taken.map(({ credit_id, points }) => [credit_id, points]));
  return grants.map((grant) => ({
    ...grant,
    points_remaining: grant.points_remaining - (takenOf.get(grant.credit_id) ?? 0),
  }));
}

function expiryMs({ expires_at }: OrderedGrant): number {
  return expires_at === null ? Infinity : expires_at.getTime();
}

/** Infinity - Infinity isn't a number. */
function compare(one: number, other: number): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
