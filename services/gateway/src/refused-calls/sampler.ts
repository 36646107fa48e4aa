import { LRUCache } from 'lru-cache';

/** What one account, or one address without a known account, may have recorded. */
const SOURCE_BURST = 200;
const SOURCE_PER_SEC = 1;

/** Sources that are told apart; one that is forgotten starts with a full burst. */
const MAX_SOURCES = 10_000;

type Bucket = { tokens: number; atMs: number };
type Source = Bucket & { unrecorded: number };

/**
 * Whether a refusal is recorded: the number of refusals of its source that were left out since the last recorded
 * one, or null where this one is left out, too. `accountId` is null where the account isn't known.
 */
export type Sample = (accountId: number | null, addressGroup: string, nowMs: number) => number | null;

/**
 * A token bucket per source, so that one abuser can't displace the records of others, and one for all refusals of
 * known accounts and one for all others: many addresses without a token can't displace the records of accounts.
 */
export function createSampler(perSec: number): Sample {
  const sources = new LRUCache<string, Source>({ max: MAX_SOURCES });
  const identified: Bucket = { tokens: perSec, atMs: 0 };
  const unidentified: Bucket = { tokens: perSec, atMs: 0 };

  return (accountId, addressGroup, nowMs) => {
    const key = accountId === null ? addressGroup : `account ${String(accountId)}`;
    let source = sources.get(key);
    if (source === undefined) {
      source = { tokens: SOURCE_BURST, atMs: nowMs, unrecorded: 0 };
      sources.set(key, source);
    }
    refill(source, nowMs, SOURCE_PER_SEC, SOURCE_BURST);
    const all = accountId === null ? unidentified : identified;
    refill(all, nowMs, perSec, perSec);
    if (source.tokens < 1 || all.tokens < 1) {
      source.unrecorded += 1;
      return null;
    }
    source.tokens -= 1;
    all.tokens -= 1;
    const { unrecorded } = source;
    source.unrecorded = 0;
    return unrecorded;
  };
}

function refill(bucket: Bucket, nowMs: number, perSec: number, max: number): void {
  bucket.tokens = Math.min(max, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) / 1_000) * perSec);
  bucket.atMs = nowMs;
}
