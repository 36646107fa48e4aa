import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';

/** The clock of a store that all processes share, as this process knows it. */
export type ReferenceClock = {
  /** In milliseconds since the epoch; by this process's own clock until it was measured. */
  nowMs: () => number;
  close: () => void;
};

export type ReferenceClockOptions = {
  reference: 'redis' | 'postgres';
  /** Asks it for its time, in milliseconds since the epoch. */
  readMs: () => Promise<number>;
  registry: Registry;
  logger: Pick<Logger, 'warn' | 'info'>;
};

const INTERVAL_MS = 5_000;
/** The first measurements, of which the best counts. */
const FIRST_MEASUREMENTS = 4;
const FIRST_INTERVAL_MS = 250;
/** A measurement may be wrong by half its round trip; a worse one replaces a better one as that grows old. */
const AGEING_MS_PER_SEC = 2;
const WARN_BEYOND_MS = 1_000;

type Measurement = {
  /** The reference's time at performance.now() = 0, so that a clock that is set here changes nothing. */
  originMs: number;
  errorMs: number;
  atMs: number;
};

/**
 * Measures every 5 s how far this process's clock is ahead of a store's: `tollgate_clock_skew_seconds`, and a line
 * in the log where it is more than a second off, and where it is right again (ADR 0043).
 */
export function followClock({ reference, readMs, registry, logger }: ReferenceClockOptions): ReferenceClock {
  const gauge = skewGauge(registry);
  let best: Measurement | undefined;
  let measurements = 0;
  let isOff = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function report(skewMs: number): void {
    gauge.set({ reference }, skewMs / 1_000);
    const wasOff = isOff;
    isOff = Math.abs(skewMs) > (wasOff ? WARN_BEYOND_MS / 2 : WARN_BEYOND_MS);
    if (isOff === wasOff) return;
    const members = { reference, skew_ms: Math.round(skewMs) };
    if (isOff) logger.warn(members, 'this clock is off: it differs from the reference by more than a second');
    else logger.info(members, 'this clock agrees with the reference again');
  }

  async function measure(): Promise<void> {
    const askedMs = performance.now();
    try {
      const referenceMs = await readMs();
      const atMs = performance.now();
      const errorMs = (atMs - askedMs) / 2;
      if (best === undefined || errorMs <= best.errorMs + ((atMs - best.atMs) / 1_000) * AGEING_MS_PER_SEC) {
        best = { originMs: referenceMs - (askedMs + atMs) / 2, errorMs, atMs };
      }
      measurements += 1;
      report(Date.now() - (performance.now() + best.originMs));
    } catch {
      // It is away, which others say; what was measured last holds on.
    }
    if (closed) return;
    timer = setTimeout(
      () => void measure(),
      measurements < FIRST_MEASUREMENTS ? FIRST_INTERVAL_MS : INTERVAL_MS,
    );
    timer.unref();
  }

  void measure();
  return {
    nowMs: () => (best === undefined ? Date.now() : performance.now() + best.originMs),
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** One for all references of a process. */
function skewGauge(registry: Registry): Gauge<'reference'> {
  const name = 'tollgate_clock_skew_seconds';
  const known = registry.getSingleMetric(name) as Gauge<'reference'> | undefined;
  return (
    known ??
    new Gauge({
      name,
      help: 'How far this process’s clock is ahead of the reference’s: redis, or in account also postgres',
      labelNames: ['reference'],
      registers: [registry],
    })
  );
}
