import type { Logger } from '@tollgate/log';
import type { PriceFault } from './price.ts';

const INTERVAL_MS = 60_000;

export type PriceLog = (origin: string, fault: PriceFault) => void;

/** Logs one line a minute for each origin and fault, with the number of suppressed ones. */
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
      'an upstream response states no price, or an invalid one',
    );
  };
}
