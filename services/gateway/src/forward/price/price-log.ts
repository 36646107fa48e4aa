import type { Logger } from '@tollgate/log';
import type { PriceFault } from './price.ts';

const INTERVAL_MS = 60_000;

/** Told of an answer whose price is missing, repeated or unreadable, and of the upstream's origin. */
export type PriceLog = (origin: string, fault: PriceFault) => void;

/** One line a minute for each origin and fault, with the count of those that were left out since the last one. */
export function createPriceLog(
  logger: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): PriceLog {
  const lines = new Map<string, { loggedMs: number; suppressed: number }>();
  return (origin, fault) => {
    const key = `${fault} ${origin}`;
    const line = lines.get(key) ?? { loggedMs: -Infinity, suppressed: 0 };
    if (now() - line.loggedMs < INTERVAL_MS) {
      line.suppressed += 1;
      return;
    }
    const { suppressed } = line;
    lines.set(key, { loggedMs: now(), suppressed: 0 });
    logger.warn(
      { upstream: origin, fault, suppressed },
      'an upstream answer states no price that can be read',
    );
  };
}
