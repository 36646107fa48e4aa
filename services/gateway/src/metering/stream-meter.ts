import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import type { Lease } from '../admission/leases.ts';
import { periodLimitExceeded } from '../admission/refused.ts';
import type { PayerEntitlement } from '../entitle/entitle.ts';
import type { Prime } from './live-usage/prime.ts';
import { Problem } from '@tollgate/http/problem';
import { exhaustedLimit } from './exhausted-limit.ts';
import { createOperationMeter } from './operation-meter.ts';
import { usageEvent } from './settlement/settle-call.ts';
import type { LiveUsage } from './settlement/record-script.ts';
import type { RecordUsage } from './settlement/record-usage.ts';

/** Who has a stream open, and on whose period. */
type StreamConsumer = { token: ActiveToken; payer: PayerEntitlement };

export type OpenStream = StreamConsumer & {
  apiVersion: UsageEvent['api_version'];
  lease: Lease;
  /** What the upstream's answer itself cost, beside the points per minute. */
  points: number;
  /** All that has been sent to the caller of it. */
  trafficBytes: () => number;
  /** Who has it open now. @throws {Problem} that ends the stream, unless it is of the service itself (5xx) */
  recheck: () => Promise<StreamConsumer>;
  /** `end` is told where its token is dead, or may be; until the function that it returns is called. */
  watchToken: (end: (problem: Problem) => void) => () => void;
  /** Told once where the stream has to end; `end` is to be called then, too. */
  onRefused: (problem: Problem) => void;
};

export type StreamMeter = {
  /** Settles the rest and gives the lease back; resolves when Redis has acknowledged it. */
  end: () => Promise<unknown>;
};

export type StreamMeterOptions = {
  record: RecordUsage;
  prime: Prime;
  pointsPerMinute: number;
};

/** What is open is settled at least so often: so much is lost at most where this process dies. */
const SETTLE_INTERVAL_MS = 5_000;
/** How often an open stream's token and period are looked at; both are cached. What is revoked is told at once. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Meters an open stream of an HTTP answer: the request and its first minute at once, then time, bytes and
 * further minutes as they come. It ends where a limit of the period is used up, or its token or account is.
 */
export function openStreamMeter(options: StreamMeterOptions, stream: OpenStream): StreamMeter {
  const { record, prime, pointsPerMinute } = options;
  const meter = createOperationMeter(performance.now(), pointsPerMinute);
  let { token, payer, points } = stream;
  let settledBytes = 0;
  let dueMs = 0;
  let checking = false;
  let over = false;

  function settle(lease: ReturnType<Lease['handOver']> = null): Promise<LiveUsage | null> {
    const nowMs = performance.now();
    dueMs = nowMs + SETTLE_INTERVAL_MS;
    const slice = meter.takeSlice(nowMs);
    const bytes = stream.trafficBytes();
    const used = {
      points: slice.points + points,
      requests: slice.requests,
      time_ms: slice.timeMs,
      traffic_bytes: bytes - settledBytes,
    };
    points = 0;
    settledBytes = bytes;
    return record(usageEvent({ token, payer, apiVersion: stream.apiVersion }, used), lease);
  }

  function refuse(problem: Problem): void {
    if (over) return;
    clearInterval(timer);
    stream.onRefused(problem);
  }

  function hold(live: LiveUsage | null): void {
    if (over) return;
    if (live === null) {
      // Lost with Redis' data: without them no limit could be held.
      prime(payer.periodId, payer.payerId).catch(() => undefined);
      return;
    }
    const exhausted = exhaustedLimit(payer.limits, live, pointsPerMinute > 0);
    if (exhausted !== null) refuse(periodLimitExceeded(exhausted, payer));
    const { time_sec_limit } = payer.limits;
    // The last seconds are settled when they are over, not up to an interval later.
    if (time_sec_limit !== null) {
      dueMs = Math.min(dueMs, performance.now() + time_sec_limit * 1000 - live.time_ms);
    }
  }

  async function check(): Promise<void> {
    checking = true;
    try {
      ({ token, payer } = await stream.recheck());
      if (performance.now() >= dueMs && !over) hold(await settle());
    } catch (error) {
      if (error instanceof Problem && error.status < 500) refuse(error);
    } finally {
      checking = false;
    }
  }

  const timer = setInterval(() => {
    if (!checking) void check();
  }, CHECK_INTERVAL_MS);
  timer.unref();
  const unwatch = stream.watchToken(refuse);
  void settle().then(hold);
  return {
    end: () => {
      over = true;
      unwatch();
      clearInterval(timer);
      return settle(stream.lease.handOver());
    },
  };
}
