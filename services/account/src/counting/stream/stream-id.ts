/**
 * Ids of Redis Stream entries, `<milliseconds>-<sequence>`, are pairs of unsigned 64-bit numbers: as text, 9-0 would
 * come after 10-0.
 */
export const FIRST_STREAM_ID = '0-0';

const MAX_SEQUENCE = 2n ** 64n - 1n;

/** Without numbers: a reader compares each entry of each stream. */
export function compareStreamIds(one: string, other: string): number {
  const [oneMs, oneSequence] = parts(one);
  const [otherMs, otherSequence] = parts(other);
  return compareDecimals(oneMs, otherMs) || compareDecimals(oneSequence, otherSequence);
}

export function nextStreamId(id: string): string {
  const [ms, sequence] = parts(id);
  return BigInt(sequence) === MAX_SEQUENCE
    ? `${String(BigInt(ms) + 1n)}-0`
    : `${ms}-${String(BigInt(sequence) + 1n)}`;
}

/** When Redis added the entry, by its clock. */
export function streamIdMs(id: string): number {
  return Number(parts(id)[0]);
}

function parts(id: string): [ms: string, sequence: string] {
  const dash = id.indexOf('-');
  return [id.slice(0, dash), id.slice(dash + 1)];
}

/** Of whole numbers without leading zeros. */
function compareDecimals(one: string, other: string): number {
  if (one.length !== other.length) return one.length < other.length ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}
