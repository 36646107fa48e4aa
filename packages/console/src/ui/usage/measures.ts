import type { UsageFigures } from '../../api/usage.ts';
import { LOCALE } from '../locale.ts';
import type { QuantityKind } from './quantity.tsx';

export const MEASURES = ['points', 'requests', 'time', 'traffic'] as const;

export type Measure = (typeof MEASURES)[number];

type MeasureText = {
  field: keyof UsageFigures;
  name: string;
  kind: QuantityKind;
  /** Units that suit an axis, largest first. */
  units: readonly { size: number; name: string }[];
};

const COMPACT = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });

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
    kind: 'count',
    units: COUNT_UNITS,
  },
  requests: {
    field: 'requests_usage',
    name: 'Requests',
    kind: 'count',
    units: COUNT_UNITS,
  },
  time: {
    field: 'time_sec_usage',
    name: 'Streaming time',
    kind: 'seconds',
    units: TIME_UNITS,
  },
  traffic: {
    field: 'traffic_bytes_usage',
    name: 'Traffic',
    kind: 'bytes',
    units: TRAFFIC_UNITS,
  },
};

/** The axis of a plot whose highest figure is known: all figures in one unit. */
export function axisOf(measure: Measure, highest: number) {
  const { units } = MEASURE_TEXT[measure];
  const { size, name } = units.find((unit) => highest >= unit.size) ?? {
    size: 1,
    name: units.at(-1)?.name ?? '',
  };
  return { unit: size, format: (value: number) => `${COMPACT.format(value)} ${name}`.trim() };
}
