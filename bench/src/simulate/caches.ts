import type { Random } from './random.ts';

/** In seconds. `idleSec`: how long an entry stays unless it is used (of least-recently-used eviction). */
export type CacheLife = { ttlSec: number; idleSec: number };

/**
 * Che's approximation: a cache of `entries` that evicts the least recently used holds what was used within this time.
 * `shares` are those of all keys, of which each gateway sees `keyShare`. Infinity if all fit.
 */
export function idleSecOf(
  entries: number,
  perSec: number,
  { shares, keyShare }: { shares: Float64Array; keyShare: number },
): number {
  if (shares.length * keyShare <= entries) return Infinity;
  const groups = inGroups(shares);
  const held = (sec: number) =>
    keyShare * groups.reduce((sum, { keys, share }) => sum + keys * (1 - Math.exp(-share * perSec * sec)), 0);
  let [low, high] = [0, 1];
  while (held(high) < entries && high < 1e9) high *= 2;
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (held(middle) < entries) low = middle;
    else high = middle;
  }
  return high;
}

/** Neighbouring ranks have nearly the same share. */
function inGroups(shares: Float64Array): { keys: number; share: number }[] {
  const groups = [];
  for (let first = 0; first < shares.length;) {
    const last = Math.min(Math.max(first + 1, Math.ceil(first * 1.01)), shares.length);
    let sum = 0;
    for (let rank = first; rank < last; rank += 1) sum += shares[rank] ?? 0;
    groups.push({ keys: last - first, share: sum / (last - first) });
    first = last;
  }
  return groups;
}

/** Whether the slot's key, used `perSec` there, is in the cache now; it is afterwards. */
export type Lookup = (slot: number, perSec: number, nowSec: number) => boolean;

/**
 * Entries end `ttlSec` after they were stored. When a slot is first used, what it held at time 0 is drawn, as if the
 * cache had been in use for ever.
 */
export function createWarmCache(slots: number, { ttlSec, idleSec }: CacheLife, random: Random): Lookup {
  const expires = new Float64Array(slots).fill(NaN);
  const used = new Float64Array(slots);
  return (slot, perSec, nowSec) => {
    if (Number.isNaN(expires[slot])) {
      const held = random.next() < (perSec * ttlSec) / (1 + perSec * ttlSec);
      expires[slot] = held ? random.next() * ttlSec : -Infinity;
      used[slot] = -random.gap(perSec);
    }
    const hit = nowSec < (expires[slot] ?? 0) && nowSec - (used[slot] ?? 0) < idleSec;
    used[slot] = nowSec;
    if (!hit) expires[slot] = nowSec + ttlSec;
    return hit;
  };
}

/** `kept`: another gateway had it stored in Redis. `asked`: account is asked, and keeps the answer there. */
type EntitlementSource = 'gateway' | 'kept' | 'asked';

export type EntitlementLookup = (
  at: { slot: number; account: number },
  perSec: { account: number; here: number },
  nowSec: number,
) => EntitlementSource;

/** An answer lives `ttlSec` from when account gave it, in Redis and at all gateways (docs/design/entitlement.md). */
export function createEntitlements(
  { accounts, slots }: { accounts: number; slots: number },
  { ttlSec, idleSec }: CacheLife,
  random: Random,
): EntitlementLookup {
  const answered = new Float64Array(accounts).fill(NaN);
  const held = new Float64Array(slots).fill(NaN);
  const used = new Float64Array(slots);
  return ({ slot, account }, perSec, nowSec) => {
    if (Number.isNaN(answered[account])) {
      const kept = random.next() < (perSec.account * ttlSec) / (1 + perSec.account * ttlSec);
      answered[account] = kept ? -random.next() * ttlSec : -Infinity;
    }
    const isKept = nowSec - (answered[account] ?? 0) < ttlSec;
    if (Number.isNaN(held[slot])) {
      used[slot] = -random.gap(perSec.here);
      held[slot] = (used[slot] ?? 0) > (answered[account] ?? 0) ? (answered[account] ?? 0) : -Infinity;
    }
    const hit = isKept && held[slot] === answered[account] && nowSec - (used[slot] ?? 0) < idleSec;
    used[slot] = nowSec;
    if (!isKept) answered[account] = nowSec;
    held[slot] = answered[account] ?? 0;
    if (hit) return 'gateway';
    return isKept ? 'kept' : 'asked';
  };
}
