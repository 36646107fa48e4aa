import { serverNowMs } from '../api/server-clock.ts';

const LATELY_MS = 30 * 86_400_000;

/** Whether something was used in the last 30 days, so that a program probably still needs it. */
export function wasUsedLately(lastUsedAt: string | null): boolean {
  return lastUsedAt !== null && serverNowMs() - Date.parse(lastUsedAt) < LATELY_MS;
}
