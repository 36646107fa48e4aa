/** The days of a billing period that follows others, in UTC. */

type Ends = readonly { ended_at: string }[];

const SECOND_MS = 1_000;

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The period after the last one, or from today, for a month. */
export function nextPeriod(periods: Ends, nowMs: number): { from: string; to: string } {
  const today = new Date(nowMs).setUTCHours(0, 0, 0, 0);
  const lastMs = Math.max(...periods.map(({ ended_at }) => Date.parse(ended_at)), 0);
  const fromMs = Math.max(lastMs + SECOND_MS, today);
  return { from: written(fromMs, 0), to: written(monthAfter(fromMs) - SECOND_MS, DAY_MS - SECOND_MS) };
}

const DAY_MS = 86_400_000;

/** A whole day as a day; `ofDayMs` is the time that its day stands for. */
function written(ms: number, ofDayMs: number): string {
  const text = new Date(ms).toISOString();
  return ms % DAY_MS === ofDayMs ? text.slice(0, 10) : text.replace(/\.\d+Z$/, 'Z');
}

/** The same day of the next month, or its last one. */
function monthAfter(ms: number): number {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + 1];
  const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(ms).setUTCFullYear(year, month, Math.min(at.getUTCDate(), days));
}

/** What the form has, as the API takes it: a day begins at 00:00:00, and as the last one ends at 23:59:59. */
export function instantOf(text: string, isEnd: boolean): string {
  const trimmed = text.trim();
  if (!DAY.test(trimmed)) return trimmed;
  return `${trimmed}T${isEnd ? '23:59:59' : '00:00:00'}Z`;
}
