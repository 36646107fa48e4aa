/** Weights and sums are whole thousandths of a point, so that 0.1 and 0.2 make 0.3. */
const THOUSANDTHS_PER_POINT = 1_000;

/** Larger sums and list sizes count as this many. */
export const MAX_COUNT = 1_000_000_000_000;

const MAX_SUM = MAX_COUNT * THOUSANDTHS_PER_POINT;
const MAX_WEIGHT = 1_000_000_000;
const DECIMAL = /^[+-]?\d+(?:\.\d{1,3}0*)?$/;

/** A weight in thousandths; null if it is no decimal with at most three places, or beyond a billion. */
export function parseWeight(text: string): number | null {
  const weight = DECIMAL.test(text) ? Number(text) : Number.NaN;
  return Math.abs(weight) <= MAX_WEIGHT ? Math.round(weight * THOUSANDTHS_PER_POINT) : null;
}

export function fromPoints(points: number): number {
  return points * THOUSANDTHS_PER_POINT;
}

/** With its fraction. */
export function toPoints(thousandths: number): number {
  return thousandths / THOUSANDTHS_PER_POINT;
}

export function toWholePoints(thousandths: number): number {
  return Math.ceil(thousandths / THOUSANDTHS_PER_POINT);
}

export function plus(a: number, b: number): number {
  return Math.min(a + b, MAX_SUM);
}

export function times(count: number, cost: number): number {
  return Math.min(count * cost, MAX_SUM);
}
