import type { UsageFigures } from '../../api/usage.ts';
import { formatNumber } from '../format.ts';
import { LOCALE } from '../locale.ts';

export const MEASURES = ['points', 'requests', 'time', 'traffic'] as const;

export type Measure = (typeof MEASURES)[number];

type MeasureText = {
  field: keyof UsageFigures;
  name: string;
  /** Of the figures in the API; null for a count. */
  unit: 'seconds' | 'bytes' | null;
  /** A figure in the unit that suits it. */
  format: (value: number) => string;
  /** Units that suit an axis, largest first. */
  units: readonly { size: number; name: string }[];
};

const COMPACT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const ROUNDED = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 });

const TIME_UNITS = [
  { size: 3_600, name: 'h' },
  { size: 60, name: 'min' },
  { size: 1, name: 's' },
];

const TRAFFIC_UNITS = [
  { size: 1e12, name: 'TB' },
  { size: 1e9, name: 'GB' },
  { size: 1e6, name: 'MB' },
  { size: 1e3, name: 'kB' },
  { size: 1, name: 'B' },
];

const COUNT_UNITS = [{ size: 1, name: '' }];

/** What usage is measured in, as in `GET /api/usage`. */
export const MEASURE_TEXT: Record<Measure, MeasureText> = {
  points: {
    field: 'points_usage',
    name: 'Points',
    unit: null,
    format: formatNumber,
    units: COUNT_UNITS,
  },
  requests: {
    field: 'requests_usage',
    name: 'Requests',
    unit: null,
    format: formatNumber,
    units: COUNT_UNITS,
  },
  time: {
    field: 'time_sec_usage',
    name: 'Streaming time',
    unit: 'seconds',
    format: (value) => inUnit(value, TIME_UNITS),
    units: TIME_UNITS,
  },
  traffic: {
    field: 'traffic_bytes_usage',
    name: 'Traffic',
    unit: 'bytes',
    format: (value) => inUnit(value, TRAFFIC_UNITS),
    units: TRAFFIC_UNITS,
  },
};

function unitFor(value: number, units: MeasureText['units']) {
  return units.find(({ size }) => value >= size) ?? { size: 1, name: units.at(-1)?.name ?? '' };
}

function inUnit(value: number, units: MeasureText['units']): string {
  const { size, name } = unitFor(value, units);
  return `${ROUNDED.format(value / size)} ${name}`;
}

/** The axis of a plot whose highest figure is known: all figures in one unit. */
export function axisOf(measure: Measure, highest: number) {
  const { size, name } = unitFor(highest, MEASURE_TEXT[measure].units);
  return { unit: size, format: (value: number) => `${COMPACT.format(value)} ${name}`.trim() };
}
