import { setTimeout } from 'node:timers/promises';
import { clientIdOf, parseAccessToken } from '@tollgate/credentials/access-token';
import { addressGroup } from '@tollgate/http/address-group';
import { MAX_REFUSED_CALL_DETAIL } from '@tollgate/contracts/refused-call';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Logger } from '@tollgate/log';
import { redact } from '@tollgate/log/redact';
import { createSampler } from './sampler.ts';

/** A call, an upgrade, an operation or a socket that was refused or has failed. */
export type Refusal = Pick<RefusedCall, 'kind' | 'code' | 'status' | 'address'> & {
  requestId: string;
  detail: string | undefined;
  /** Null where the token wasn't found good. */
  active: ActiveToken | null;
  payerId: number | null;
  /** The token that was shown, whatever it is worth. Never recorded. */
  token: string | undefined;
  apiVersion: RefusedCall['api_version'];
  durationMs: number | null;
};

export type RecordRefusal = (refusal: Refusal) => void;

export type RefusedCallsOptions = {
  /** Appends records to the stream. Resolves with those that it may not have. */
  send: (records: readonly RefusedCall[]) => Promise<RefusedCall[]>;
  tokenPrefix: string;
  /** Records per second, of refusals with a known account and of all others each; with 0 none is made. */
  perSec: number;
  logger: Pick<Logger, 'warn'>;
  onRefusal: (outcome: 'recorded' | 'sampled_out' | 'dropped') => void;
};

export type RefusedCalls = {
  record: RecordRefusal;
  /** Sends what waits; what Redis doesn't take is lost. */
  close: () => Promise<void>;
};

/** Gathered before they are sent, so that a wave of refusals is a few writes. */
const SEND_AFTER_MS = 200;
/** While Redis is away. */
const RETRY_AFTER_MS = 1_000;
const MAX_BATCH = 200;
/** Some 4 MB, while Redis is away. */
const MAX_WAITING = 10_000;
/** An IPv6 address with its zone. */
const MAX_ADDRESS = 64;

/**
 * Records refused and failed calls, so that a request id can be looked up (ADR 0045): in memory, sampled, and from
 * there to a Redis Stream. No call ever waits for it, and a call that passes never comes here.
 */
export function createRefusedCalls(options: RefusedCallsOptions): RefusedCalls {
  const { send, tokenPrefix, perSec, logger, onRefusal } = options;
  const sample = createSampler(perSec);
  const closing = new AbortController();
  const { signal } = closing;
  let waiting: RefusedCall[] = [];
  let seq = 0;
  let isSending = false;
  let sending = Promise.resolve();

  /** Sends until nothing waits; while the process closes, until Redis refuses. */
  async function sendAll(): Promise<void> {
    let restMs = SEND_AFTER_MS;
    while (waiting.length > 0) {
      await setTimeout(restMs, undefined, { ref: false, signal }).catch(() => undefined);
      const batch = waiting.splice(0, MAX_BATCH);
      const unsent = await send(batch);
      waiting = [...unsent, ...waiting];
      for (let sent = unsent.length; sent < batch.length; sent += 1) onRefusal('recorded');
      if (unsent.length > 0 && signal.aborted) break;
      restMs = unsent.length > 0 ? RETRY_AFTER_MS : 0;
    }
    isSending = false;
  }

  return {
    record: (refusal) => {
      const nowMs = Date.now();
      const unrecorded = sample(refusal.active?.account_id ?? null, addressGroup(refusal.address), nowMs);
      if (unrecorded === null || waiting.length >= MAX_WAITING) {
        onRefusal(unrecorded === null ? 'sampled_out' : 'dropped');
        return;
      }
      seq += 1;
      waiting.push(recordOf(refusal, { seq, at_ms: nowMs, unrecorded_before: unrecorded }, tokenPrefix));
      if (isSending) return;
      isSending = true;
      sending = sendAll();
    },
    close: async () => {
      closing.abort();
      await sending;
      if (waiting.length > 0) logger.warn({ count: waiting.length }, 'records of refused calls were lost');
    },
  };
}

function recordOf(
  { requestId, active, payerId, token, apiVersion, durationMs, detail, ...refusal }: Refusal,
  numbers: Pick<RefusedCall, 'seq' | 'at_ms' | 'unrecorded_before'>,
  tokenPrefix: string,
): RefusedCall {
  return {
    request_id: requestId,
    ...numbers,
    kind: refusal.kind,
    code: refusal.code,
    status: refusal.status,
    account_id: active?.account_id ?? null,
    payer_id: payerId,
    application_id: active?.application_id ?? null,
    client_id: active?.client_id ?? clientOf(token, tokenPrefix),
    address: refusal.address.slice(0, MAX_ADDRESS),
    api_version: apiVersion,
    duration_ms: durationMs === null ? null : Math.round(durationMs),
    detail: detail === undefined ? null : plainText(detail),
  };
}

/** A close reason is what the upstream likes it to be. */
function plainText(detail: string): string {
  const text = redact(detail).replace(/\p{Cc}/gu, ' ');
  return text.slice(0, MAX_REFUSED_CALL_DETAIL).toWellFormed();
}

/** Whom a well-formed token is for: it tells an application's owner why its calls are refused. */
function clientOf(token: string | undefined, tokenPrefix: string): string | null {
  const parsed = token === undefined ? null : parseAccessToken(token, tokenPrefix);
  return parsed === null ? null : clientIdOf(parsed.applicationPart);
}
