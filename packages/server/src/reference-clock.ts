import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';

/** The clock of a store that all processes share. */
export type ReferenceClock = {
  /** Milliseconds since the epoch; this process' own clock until the first measurement. */
  nowMs: () => number;
  close: () => void;
};

export type ReferenceClockOptions = {
  reference: 'redis' | 'postgres';
  readMs: () => Promise<number>;
  registry: Registry;
  logger: Pick<Logger, 'warn' | 'info'>;
};

const INTERVAL_MS = 5_000;
const FIRST_MEASUREMENTS = 4;
const FIRST_INTERVAL_MS = 250;
/** The error is half the round trip at most; a worse measurement replaces a better one as that ages. */
const AGEING_MS_PER_SEC = 2;
const WARN_BEYOND_MS = 1_000;

type Measurement = {
  /** The reference's time at performance.now() = 0, so that setting the local clock changes nothing. */
  originMs: number;
  errorMs: number;
  atMs: number;
};

/**
 * Measures every 5 s how far this clock is ahead of a store's; logs when that exceeds a second (docs/design/stores.md).
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
      // The store is unavailable; the last measurement holds.
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

function skewGauge(registry: Registry): Gauge<'reference'> {
  const name = 'tollgate_clock_skew_seconds';
  const known = registry.getSingleMetric(name) as Gauge<'reference'> | undefined;
  return (
    known ??
    new Gauge({
      name,
      help: "How far this process's clock is ahead of the reference's: redis, or in account also postgres",
      labelNames: ['reference'],
      registers: [registry],
    })
  );
}
