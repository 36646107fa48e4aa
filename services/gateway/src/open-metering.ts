import { randomUUID } from 'node:crypto';
import { SHARE_CHANNEL } from '@tollgate/contracts/usage-stream';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import type { Logger } from '@tollgate/log';
import type { FollowedChannel } from '@tollgate/redis/follow-channels';
import type { ComposeContext } from '@tollgate/server';
import { createAdmission } from './pipeline/admit/admit.ts';
import { createAdmitMetrics } from './pipeline/admit/metrics.ts';
import { createAdmissionScript } from './ledger/admit-script.ts';
import { batchAdmissions } from './pipeline/admit/batch-admissions.ts';
import { createLeases } from './ledger/leases.ts';
import { createLedgerMetrics } from './ledger/metrics.ts';
import { createShareScripts } from './ledger/share-script.ts';
import { createShares } from './pipeline/admit/shares/shares.ts';
import type { Shares } from './pipeline/admit/shares/shares.ts';
import type { Config } from './config.ts';
import { createReadPointsLeft } from './ledger/points-left.ts';
import { createPrime, createPrimePayer, createPrimeLane } from './ledger/prime.ts';
import type { LastOfLane, Prime } from './ledger/prime.ts';
import { createPrimeFrom } from './ledger/prime-script.ts';
import { createSendBatch } from './ledger/record-script.ts';
import { createUsageRecorder } from './ledger/record-usage.ts';
import type { UsageRecorder } from './ledger/record-usage.ts';
import type { Store } from './ledger/open-store.ts';

type Peers = {
  account: PrivateApi;
  /** While no entitlement event and no recall can have been missed. */
  isTrusted: () => boolean;
};

/** What gateways are told about shares. It is followed before there are any. */
export type Recalls = { channel: FollowedChannel; passTo: (shares: Pick<Shares, 'onMessage'>) => void };

export function openRecalls(): Recalls {
  let shares: Pick<Shares, 'onMessage'> | undefined;
  return {
    channel: {
      channel: SHARE_CHANNEL,
      onMessage: (message) => shares?.onMessage(message),
      // Shares ask `isTrusted` of the entitlements, whose events come by the same connections.
      cache: { onDropAll: () => shares?.onMessage(null), trustUntil: () => undefined },
    },
    passTo: (all) => {
      shares = all;
    },
  };
}

/** What admission reads and settlement writes: the payers' shards and lanes in Redis. */
export function openMetering(
  { config, logger, registry }: ComposeContext<Config>,
  store: Store,
  { account, isTrusted }: Peers,
  recalls: Recalls,
) {
  const { redis } = store;
  const metrics = createLedgerMetrics(registry);
  const { onShare, ...onAdmission } = createAdmitMetrics(registry);
  const gatewayId = randomUUID();
  const lastOfLane: LastOfLane = new Map();
  const primeFrom = createPrimeFrom(redis);
  const prime = createPrime({ account, primeFrom, onPrime: metrics.onPrime, lastOfLane });
  const primePayer = createPrimePayer(prime);
  const leases = createLeases(redis, logger);
  const shares = createShares({
    scripts: createShareScripts(redis, gatewayId),
    leases,
    trustMs: config.ADMISSION_SHARE_TRUST_MS,
    canBeRecalled: isTrusted,
    onShare,
  });
  metrics.observeLeases(() => leases.held() + shares.slotsInUse());
  const usage = openUsageRecorder({ config, store, gatewayId, prime, lastOfLane, shares, logger, metrics });
  const admit = createAdmission({
    decide: batchAdmissions(createAdmissionScript(redis)),
    primePayer,
    leases,
    shares,
    canRecord: usage.canRecord,
    ...onAdmission,
  });
  recalls.passTo(shares);
  return {
    primePayer,
    readPointsLeft: createReadPointsLeft(redis, primePayer),
    usage,
    admit,
    close: async () => {
      // First of all: usage that isn't in Redis yet ends with this process.
      await usage.flush();
      await shares.close();
      leases.close();
    },
  };
}

function openUsageRecorder(options: {
  config: Config;
  store: Store;
  gatewayId: string;
  prime: Prime;
  lastOfLane: LastOfLane;
  shares: Pick<Shares, 'onMetered' | 'returned'>;
  logger: Logger;
  metrics: ReturnType<typeof createLedgerMetrics>;
}): UsageRecorder {
  const { config, gatewayId, prime, lastOfLane, shares, logger, metrics } = options;
  const { redis, clock } = options.store;
  const usage = createUsageRecorder({
    gatewayId,
    send: createSendBatch(redis),
    primeLane: createPrimeLane(prime, lastOfLane),
    redisIsReady: () => redis.status === 'ready',
    maxQueuedEvents: config.SETTLEMENT_QUEUE_MAX_EVENTS,
    intervalMs: config.SETTLEMENT_INTERVAL_MS,
    nowMs: clock.nowMs,
    logger,
    onBatch: metrics.onBatch,
    onMetered: (events, live) => {
      metrics.onMetered(events);
      shares.onMetered(events, live);
    },
    sharesReturned: shares.returned,
  });
  metrics.observeQueue(usage.queuedEvents);
  // However the process ends, a shutdown that Redis outlasted included: nothing is lost without a word.
  process.once('exit', () => {
    const lost = usage.queuedEvents();
    if (lost > 0) logger.error({ lost_events: lost }, 'usage was lost: Redis has not acknowledged it');
  });
  return usage;
}
