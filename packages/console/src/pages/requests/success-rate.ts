import { counted } from '../../ui/format.ts';
import { LOCALE } from '../../ui/locale.ts';
import type { RefusalCounts } from './queries.ts';

const RATE = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  maximumFractionDigits: 1,
  // All of them is only what all of them is.
  roundingMode: 'floor',
});

/** These were answered and are charged, so that usage counts them, too. */
const ANSWERED = 'upstream_error';

/** How many calls succeeded, of those that usage counts and those that were refused; null without calls. */
export function successText(requests: number, { calls, codes }: Pick<RefusalCounts, 'calls' | 'codes'>) {
  const answered = codes.find(({ code }) => code === ANSWERED)?.calls ?? 0;
  const all = requests + calls - answered;
  if (all <= 0) return null;
  const allCalls = counted(all, 'call');
  if (calls === 0) return `${all === 1 ? '' : 'All '}${allCalls} succeeded.`;
  return `${RATE.format(Math.max(all - calls, 0) / all)} of ${allCalls} succeeded.`;
}
