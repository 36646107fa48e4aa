/** A named row of figures, one for each point of time; null where there is none. */
export type ChartValues = { name: string; values: readonly (number | null)[] };

/** How a line differs from the others, besides its colour. */
export type LineStyle = 'solid' | 'dashed' | 'faint';

type ChartLine = ChartValues & { style: LineStyle };

/** One plot; all panels of a chart share the axis of time below them. */
export type ChartPanel = {
  heightPx: number;
  /** Stacked bars, of which at most MAX_STACKS can be told apart. */
  stacks: readonly ChartValues[];
  lines: readonly ChartLine[];
  /** A horizontal line with its name on it. */
  limit: { name: string; value: number } | null;
  /** A figure with its unit. */
  format: (value: number) => string;
  /** Figures of an axis, shorter. `unit` is how many of the values' units one of the axis has. */
  axis: { unit: number; format: (value: number) => string };
};

export type ChartModel = {
  /** What the chart shows, for its accessible name. */
  label: string;
  /** Points of time: in full, and as short as an axis needs it. The axis prefers those that begin something longer. */
  points: readonly { name: string; tick: string; isMajor: boolean }[];
  panels: readonly ChartPanel[];
};

/** Patterns that differ without colour. */
export const MAX_STACKS = 6;

export const AXIS_HEIGHT_PX = 28;

export function chartHeight({ panels }: ChartModel): number {
  return panels.reduce((sum, { heightPx }) => sum + heightPx, AXIS_HEIGHT_PX);
}

/** What a chart shows at one point of time, in words. */
export function readingAt({ points, panels }: ChartModel, index: number): string {
  const rows = panels.flatMap((panel) => panelRows(panel, index));
  const name = points[index]?.name ?? '';
  return `${name}: ${rows.map((row) => `${row.name} ${row.value}`).join(', ')}`;
}

/** What stacks add up to at a point of time; null where there are fewer than two. */
export function totalAt({ stacks, format }: ChartPanel, index: number): string | null {
  if (stacks.length < 2) return null;
  return format(stacks.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
}

/** The rows of one panel that have a figure at a point of time. */
export function panelRows({ stacks, lines, format }: ChartPanel, index: number) {
  const rows: (ChartValues & { mark: number | LineStyle })[] = [
    ...stacks.map((row, stack) => ({ ...row, mark: stack })),
    ...lines.map((row) => ({ ...row, mark: row.style })),
  ];
  return rows.flatMap(({ name, values, mark }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [{ name, value: format(value), mark, isZero: value === 0 }];
  });
}
