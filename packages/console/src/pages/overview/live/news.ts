import { LIMIT_NAMES } from '../limit-names.ts';
import type { Pace } from '../queries.ts';
import { statusText } from '../status.ts';

/** What a screen reader is told of a change: the status and crossed thresholds; '' for anything else. */
export function newsOf(before: Pace, now: Pace): string {
  const status = statusText(now);
  if (status.label !== statusText(before).label) return `${status.label}. ${status.advice}`;
  const [latest] = now.crossed_thresholds;
  if (latest === undefined || now.crossed_thresholds.length === before.crossed_thresholds.length) return '';
  return `${LIMIT_NAMES[latest.limit]}: ${String(latest.share_percent)}% of the limit is used.`;
}
