import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import type { Platform } from '../platform/open.ts';
import { createCallerOf } from './caller.ts';
import type { CallerOf } from './caller.ts';
import { createCallerLimit } from './caller-limit.ts';
import type { CountRequest } from './caller-limit.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import { createLookUpQueue } from './look-up-queue.ts';
import type { RunQueued } from './look-up-queue.ts';

const COUNTED_CLIENTS_MAX = 10_000;

/** Callers that have failed too often may use only a small part of account's capacity. */
const QUEUE = { concurrency: 4, waitingMax: 1_000, waitingPerHolderMax: 200 };

/** Limits against abuse: of failed attempts, and of what one caller may ask for. */
export function openAbuse({ config, registry, redis, addressOf }: Platform): {
  failedAttempts: FailedAttempts;
  /** For what callers beyond the limit of failed attempts ask of account; a holder is an address. */
  queued: RunQueued;
  /** A client has reached its limit of token requests. */
  onClientLimited: () => void;
  needs: { callerOf: CallerOf; countIntrospection: CountRequest; countRevocation: CountRequest };
} {
  const limited = new Counter({
    name: 'tollgate_requests_limited_total',
    help: 'Requests answered with 429, by limit: address or pair (failed attempts), client, introspection or revocation',
    labelNames: ['limit'],
    registers: [registry],
  });
  const countLimited = (limit: string) => () => {
    limited.inc({ limit });
  };
  return {
    failedAttempts: createFailedAttempts({
      redis,
      limits: {
        perClientAndAddress: config.FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS,
        perAddress: config.FAILED_ATTEMPTS_PER_ADDRESS,
        windowMs: config.FAILED_ATTEMPTS_WINDOW_SEC * 1_000,
      },
      onLimited: (limit) => {
        limited.inc({ limit });
      },
    }),
    queued: createLookUpQueue(QUEUE),
    onClientLimited: countLimited('client'),
    needs: {
      callerOf: createCallerOf(addressOf),
      countIntrospection: createCallerLimit({
        perSec: config.INTROSPECTIONS_PER_CALLER_PER_SEC,
        wholeAt: new Map(),
        onLimited: countLimited('introspection'),
      }),
      countRevocation: createCallerLimit({
        perSec: config.REVOCATIONS_PER_CLIENT_PER_SEC,
        wholeAt: new LRUCache<string, number>({ max: COUNTED_CLIENTS_MAX }),
        onLimited: countLimited('revocation'),
      }),
    },
  };
}
