import { formatBytes, formatDuration, formatNumber } from '../format.ts';

export type QuantityKind = 'count' | 'seconds' | 'bytes';

const FORMATS = {
  count: formatNumber,
  seconds: formatDuration,
  bytes: formatBytes,
} as const satisfies Record<QuantityKind, (value: number) => string>;

/** A quantity in the unit that fits its size: "3 h 20 min", "1.2 GB". */
export function formatQuantity(value: number, kind: QuantityKind): string {
  return FORMATS[kind](value);
}

/** The same, with the exact value on hover. */
export function Quantity({ value, kind }: { value: number; kind: QuantityKind }) {
  const text = formatQuantity(value, kind);
  if (kind === 'count') return text;
  return <span title={`${formatNumber(value)} ${kind}`}>{text}</span>;
}
