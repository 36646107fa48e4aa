import { LRUCache } from 'lru-cache';

/** For each code of an account, or of an address without a known account: a day has some 5,800 at most. */
const SOURCE_BURST = 60;
const SOURCE_PER_SEC = 1 / 15;

/** A forgotten source starts with a full burst. */
const MAX_SOURCES = 20_000;

type Bucket = { tokens: number; atMs: number };
type Source = Bucket & { unrecorded: number };

type Sampled = { accountId: number | null; addressGroup: string; code: string };

/** The number of suppressed refusals of this source since the last recorded one; null to suppress this one, too. */
export type Sample = (refusal: Sampled, nowMs: number) => number | null;

/** Token buckets per source, for all known accounts and for all others, so that none displaces the others' records. */
export function createSampler(perSec: number): Sample {
  const sources = new LRUCache<string, Source>({ max: MAX_SOURCES });
  const identified: Bucket = { tokens: perSec, atMs: 0 };
  const unidentified: Bucket = { tokens: perSec, atMs: 0 };

  return ({ accountId, addressGroup, code }, nowMs) => {
    const key = `${code} ${accountId === null ? addressGroup : `account ${String(accountId)}`}`;
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
