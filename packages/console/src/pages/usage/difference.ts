import { formatNumber } from '../../ui/format.ts';

/**
 * How a total differs from that of the range before, in words: "12% more than in the 30 days before".
 * @param name of the range before, as "the 30 days before"
 */
export function differenceFrom(before: number, total: number, name: string): string {
  const than = `in ${name}`;
  if (total === before) return `The same as ${than}`;
  if (before === 0) return `None ${than}`;
  const percent = Math.round((Math.abs(total - before) / before) * 100);
  const amount = percent === 0 ? 'Less than 1%' : `${formatNumber(percent)}%`;
  return `${amount} ${total > before ? 'more' : 'less'} than ${than}`;
}
