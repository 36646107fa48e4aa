import { randomBytes } from 'node:crypto';
import type { Logger } from '@tollgate/log';
import { defineScriptInOrder } from '@tollgate/redis/script';
import type { ScriptableRedis } from '@tollgate/redis/script';
import { LEASE_MS } from './admit-script.ts';

export type LeaseEntry = {
  key: string;
  member: string;
  /** If it is a slot of a share. */
  shared?: {
    /** The batch that releases it is being sent. False if Redis doesn't have the lease. */
    onSent: () => boolean;
    onRecorded: () => void;
  };
  /** Released in the same step: what is reserved of the payer's points. */
  further?: readonly Pick<LeaseEntry, 'key' | 'member'>[];
};

/** A payer's slot for a call in flight or an open subscription, held until it is released. */
export type Lease = {
  /** Releases the slot. Never throws, and may be called again. */
  release: () => void;
  /** For RecordUsage, which releases it in the same round trip; null if nothing is held. */
  handOver: () => LeaseEntry | null;
};

export type Leases = {
  newMember: () => string;
  hold: (entry: LeaseEntry) => Lease;
  held: () => number;
  /** Stops renewing; held leases expire within LEASE_MS. */
  close: () => void;
};

export const NO_LEASE: Lease = { release: () => undefined, handOver: () => null };

/** A slot, if there is one, and then reservations of points. */
export function together(leases: readonly Lease[]): Lease {
  return {
    release: () => {
      for (const lease of leases) lease.release();
    },
    handOver: () => {
      const [first, ...further] = leases.flatMap((lease) => lease.handOver() ?? []);
      if (first === undefined) return null;
      return further.length === 0 ? first : { ...first, further };
    },
  };
}

const RENEWAL_INTERVAL_MS = 2_500;
const MEMBERS_PER_COMMAND = 500;

/** ZADD also restores leases after Redis has lost its data. */
const RENEW = `
local time = redis.call('TIME')
local expires_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[1])
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], expires_ms, ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`;

type Held = LeaseEntry & { renewedMs: number };

/** The leases of this process, renewed in batches; a dead process renews none, so its slots become free. */
export function createLeases(
  redis: ScriptableRedis & { zrem: (key: string, member: string) => Promise<unknown> },
  logger: Pick<Logger, 'warn'>,
): Leases {
  // Behind its release, a renewal would take the slot again, for no call.
  const renew = defineScriptInOrder(redis, RENEW);
  const process = randomBytes(9).toString('base64url');
  const held = new Set<Held>();
  let count = 0;
  let failing = false;

  async function renewAll(key: string, leases: readonly Held[]): Promise<void> {
    for (let start = 0; start < leases.length; start += MEMBERS_PER_COMMAND) {
      // Some may have been released since the command before.
      const still = leases.slice(start, start + MEMBERS_PER_COMMAND).filter((lease) => held.has(lease));
      if (still.length > 0) await renew([key], [LEASE_MS, ...still.map(({ member }) => member)]);
    }
  }

  async function renewDue(): Promise<void> {
    const nowMs = performance.now();
    const due = [...held].filter(({ renewedMs }) => nowMs - renewedMs >= RENEWAL_INTERVAL_MS / 2);
    for (const lease of due) lease.renewedMs = nowMs;
    const byKey = Map.groupBy(due, ({ key }) => key);
    const renewals = [...byKey].map(([key, leases]) => renewAll(key, leases));
    const failed = (await Promise.allSettled(renewals)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected' && !failing) {
      logger.warn({ err: failed.reason as unknown }, 'leases could not be renewed; retrying');
    }
    failing = failed !== undefined;
  }

  const timer = setInterval(() => void renewDue(), RENEWAL_INTERVAL_MS);
  timer.unref();
  return {
    newMember: () => {
      count += 1;
      return `${process}.${count.toString(36)}`;
    },
    hold: (entry) => {
      const lease: Held = { ...entry, renewedMs: performance.now() };
      held.add(lease);
      const handOver = () => (held.delete(lease) ? entry : null);
      return {
        handOver,
        release: () => {
          // If Redis is away, the lease expires by itself.
          if (handOver() !== null) redis.zrem(entry.key, entry.member).catch(() => undefined);
        },
      };
    },
    held: () => held.size,
    close: () => {
      clearInterval(timer);
    },
  };
}
