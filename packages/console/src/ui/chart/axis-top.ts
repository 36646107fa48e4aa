import type { ChartPanel } from './model.ts';

/** Of fewer bars, none is usual. */
const BARS_MIN = 8;

/** At most this share of the bars is cut, and at least one may be. */
const CUT_SHARE_MAX = 0.1;

/** How much higher than the others a bar is that is cut. */
const CUT_FACTOR = 4;

/** Room above the highest bar that isn't cut. */
const ROOM = 1.25;

/**
 * Where the axis of figures ends: at the highest, unless a few are so much higher than all others that these could not
 * be told from zero. Then it ends a little above the others.
 */
function topOf(figures: readonly number[]): number {
  const falling = figures.filter((figure) => figure > 0).toSorted((one, other) => other - one);
  const [highest = 0] = falling;
  if (falling.length < BARS_MIN) return highest;
  const cutMax = Math.max(Math.floor(falling.length * CUT_SHARE_MAX), 1);
  const usual = falling
    .slice(1, cutMax + 1)
    .findLast((figure, index) => (falling[index] ?? 0) >= figure * CUT_FACTOR);
  return usual === undefined ? highest : usual * ROOM;
}

/** What the stacks of a panel add up to at each point of time. */
export function stackSums({ stacks, lines }: ChartPanel): number[] {
  const length = Math.max(...[...stacks, ...lines].map(({ values }) => values.length), 0);
  return Array.from({ length }, (_, index) =>
    stacks.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
}

/** Where a panel's axis ends, and whether bars are cut there. What lines show is never cut, except a comparison. */
export function axisTop(panel: ChartPanel): { top: number; isCut: boolean } {
  const sums = stackSums(panel);
  const lines = panel.lines.map(({ style, values }) => ({
    style,
    values: values.map((value) => value ?? 0),
  }));
  const compared = lines.filter(({ style }) => style === 'faint').flatMap(({ values }) => values);
  const whole = lines.filter(({ style }) => style !== 'faint').flatMap(({ values }) => values);
  const top = Math.max(topOf(sums), topOf(compared), ...whole, panel.limit?.value ?? 0);
  return { top, isCut: sums.some((sum) => sum > top) };
}
