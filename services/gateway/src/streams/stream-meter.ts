import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import type { CountedOperation } from '../operation-reader/counted-operation.ts';
import type { Admit } from '../pipeline/admit/admit.ts';
import type { Lease } from '../ledger/leases.ts';
import type { ReadPointsLeft } from '../ledger/points-left.ts';
import type { PrimePayer } from '../ledger/prime.ts';
import { OpenSubscriptions, newSubscription } from './open-subscriptions.ts';
import type { Principal } from '../ledger/principal.ts';
import type { RecordUsage } from '../ledger/record-usage.ts';

export type OpenStream = Principal & {
  /** The operation; null if it isn't known. */
  counted: CountedOperation | null;
  apiVersion: UsageEvent['api_version'];
  lease: Lease;
  /** For its slot, if another entitlement is in force. */
  admit: Admit;
  /** What the response itself costs so far, besides the points per minute. */
  points: () => number;
  trafficBytes: () => number;
  /** The current principal. @throws {Problem} that ends the stream, unless it is a server error (5xx) */
  recheck: () => Promise<Principal>;
  /** Calls `end` when the token is dead or may be; the returned function stops that. */
  watchToken: (end: (problem: Problem) => void) => () => void;
  /** The stream has to end; the meter's `end` is then called too. */
  onRefused: (problem: Problem) => void;
};

export type StreamMeter = {
  /** Settles the rest and releases the slot; resolves when Redis has acknowledged it. */
  end: () => Promise<void>;
};

export type StreamMeterOptions = {
  record: RecordUsage;
  primePayer: PrimePayer;
  readPointsLeft: ReadPointsLeft;
  pointsPerMinute: number;
};

/** The most of a stream's usage that is lost if this process dies. */
const SETTLE_INTERVAL_MS = 5_000;
/**
 * How often a stream's token and entitlement are checked, from caches; revocations are pushed. Another plan is in force
 * within a second, so as for WebSockets.
 */
const CHECK_INTERVAL_MS = 500;

/**
 * Meters an open stream of an HTTP response (docs/design/admission.md): its request and first minute are settled at
 * once.
 */
export function openStreamMeter(options: StreamMeterOptions, stream: OpenStream): StreamMeter {
  const { token, payer, apiVersion, lease, counted, admit } = stream;
  const subscription = newSubscription(counted, lease);
  const subscriptions = new OpenSubscriptions({
    ...options,
    principal: { token, payer },
    apiVersion,
    settleIntervalMs: SETTLE_INTERVAL_MS,
    onExhausted: refuse,
    admit,
    onSlotLost: (_subscription, problem) => {
      refuse(problem);
    },
  });
  let countedPoints = stream.points();
  let countedBytes = 0;
  let checking = false;

  function refuse(problem: Problem): void {
    if (subscription.ended) return;
    clearInterval(timer);
    stream.onRefused(problem);
  }

  function countProgress(): void {
    const [points, bytes] = [stream.points(), stream.trafficBytes()];
    subscriptions.countPoints(counted, points - countedPoints);
    subscriptions.countTraffic(counted, bytes - countedBytes);
    countedPoints = points;
    countedBytes = bytes;
  }

  async function check(): Promise<void> {
    checking = true;
    try {
      const { payer: current } = await stream.recheck();
      if (subscription.ended) return;
      countProgress();
      subscriptions.refreshPayer(current);
      await subscriptions.settleWhenDue(performance.now());
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
  subscriptions.addPoints(counted, countedPoints);
  subscriptions.begin(subscription, performance.now(), 0);
  countProgress();
  void subscriptions.settleWhenDue(performance.now());
  return {
    end: () => {
      unwatch();
      clearInterval(timer);
      countProgress();
      return subscriptions.endRecorded(subscription);
    },
  };
}
