/**
 * Ids of Redis Stream entries, `<milliseconds>-<sequence>`, are pairs of unsigned 64-bit numbers: as text, 9-0 would
 * come after 10-0.
 */
export const FIRST_STREAM_ID = '0-0';

const MAX_SEQUENCE = 2n ** 64n - 1n;

export function compareStreamIds(one: string, other: string): number {
  const [oneMs, oneSequence] = parts(one);
  const [otherMs, otherSequence] = parts(other);
  return oneMs === otherMs ? sign(oneSequence - otherSequence) : sign(oneMs - otherMs);
}

export function nextStreamId(id: string): string {
  const [ms, sequence] = parts(id);
  return sequence === MAX_SEQUENCE ? `${String(ms + 1n)}-0` : `${String(ms)}-${String(sequence + 1n)}`;
}

/** When Redis added the entry, by its clock. */
export function streamIdMs(id: string): number {
  return Number(parts(id)[0]);
}

function parts(id: string): [bigint, bigint] {
  const [ms = '0', sequence = '0'] = id.split('-');
  return [BigInt(ms), BigInt(sequence)];
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
