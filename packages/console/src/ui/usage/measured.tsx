import { formatNumber } from '../format.ts';
import { MEASURE_TEXT } from './measures.ts';
import type { Measure } from './measures.ts';

/** A figure in the unit that suits it, as the cards and the chart have it; exact on hover. */
export function Measured({ value, measure }: { value: number; measure: Measure }) {
  const { format, unit } = MEASURE_TEXT[measure];
  if (unit === null) return format(value);
  return <span title={`${formatNumber(value)} ${unit}`}>{format(value)}</span>;
}
