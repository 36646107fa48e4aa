import { setTimeout } from 'node:timers/promises';
import { clientIdOf, parseAccessToken } from '@tollgate/credentials/access-token';
import { addressGroup } from '@tollgate/http/address-group';
import { MAX_REFUSED_CALL_DETAIL } from '@tollgate/contracts/refused-call';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { RefusedCall } from '@tollgate/contracts/refused-call';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { Logger } from '@tollgate/log';
import { redact } from '@tollgate/log/redact';
import type { RefusalCounts } from './refusal-counts.ts';
import { createSampler } from './sampler.ts';

export type Refusal = Pick<RefusedCall, 'kind' | 'code' | 'status' | 'address'> & {
  requestId: string;
  detail: string | undefined;
  /** Null unless the token was found active. */
  active: ActiveToken | null;
  payerId: number | null;
  /** The presented token, for its client id; never recorded. */
  token: string | undefined;
  apiVersion: RefusedCall['api_version'];
  durationMs: number | null;
  /** What the call cost; null if that isn't known. */
  points: number | null;
  /** Asked only for what is recorded. */
  operationName: () => string | null;
};

export type RecordRefusal = (refusal: Refusal) => void;

export type RefusedCallsOptions = {
  /** Appends records to the stream; resolves with those without an acknowledgement. */
  send: (records: readonly RefusedCall[]) => Promise<RefusedCall[]>;
  counts: RefusalCounts;
  tokenPrefix: string;
  /** Records per second, for known accounts and for all others each; 0 records none. */
  perSec: number;
  logger: Pick<Logger, 'warn'>;
  onRefusal: (outcome: 'recorded' | 'sampled_out' | 'dropped' | 'uncounted') => void;
};

export type RefusedCalls = {
  record: RecordRefusal;
  /** Sends what is left; what Redis doesn't take is lost. */
  close: () => Promise<void>;
};

/** Batches a wave of refusals. */
const SEND_AFTER_MS = 200;
const RETRY_AFTER_MS = 1_000;
const MAX_BATCH = 200;
/** Some 4 MB, while Redis is unavailable. */
const MAX_WAITING = 10_000;
const MAX_ADDRESS = 64;

/** Of automatic persisted queries: the client sends the text next. */
const STEP_OF_PROTOCOL: ErrorCode = 'PERSISTED_QUERY_NOT_FOUND';

/**
 * Counts refused and failed calls, and records a sample, in Redis Streams (docs/design/settlement.md). No call waits
 * for it.
 */
export function createRefusedCalls(options: RefusedCallsOptions): RefusedCalls {
  const { send, counts, tokenPrefix, perSec, logger, onRefusal } = options;
  const sample = createSampler(perSec);
  const closing = new AbortController();
  const { signal } = closing;
  let waiting: RefusedCall[] = [];
  let seq = 0;
  let isSending = false;
  let sending = Promise.resolve();

  /** Retries until nothing is left; during a shutdown, until the first failure. */
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
      if (refusal.code === STEP_OF_PROTOCOL) return;
      const nowMs = Date.now();
      if (!counts.count(whoseOf(refusal, tokenPrefix), nowMs)) onRefusal('uncounted');
      const accountId = refusal.active?.account_id ?? null;
      const group = addressGroup(refusal.address);
      const unrecorded = sample({ accountId, addressGroup: group, code: refusal.code }, nowMs);
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
      await Promise.all([sending, counts.close()]);
      if (waiting.length > 0) logger.warn({ count: waiting.length }, 'records of refused calls were lost');
    },
  };
}

/** A client matters only without an account: it leads to the owner. */
function whoseOf({ code, active, payerId, token }: Refusal, tokenPrefix: string) {
  return {
    code,
    account_id: active?.account_id ?? null,
    payer_id: payerId,
    application_id: active?.application_id ?? null,
    client_id: active === null ? clientOf(token, tokenPrefix) : null,
  };
}

function recordOf(
  { requestId, active, payerId, token, apiVersion, durationMs, detail, operationName, ...refusal }: Refusal,
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
    points: refusal.points,
    operation_name: operationName(),
  };
}

/** An upstream's close reason may have any content. */
function plainText(detail: string): string {
  const text = redact(detail).replace(/\p{Cc}/gu, ' ');
  return text.slice(0, MAX_REFUSED_CALL_DETAIL).toWellFormed();
}

/** The client of a well-formed token, so that an application's owner sees why its calls are refused. */
function clientOf(token: string | undefined, tokenPrefix: string): string | null {
  const parsed = token === undefined ? null : parseAccessToken(token, tokenPrefix);
  return parsed === null ? null : clientIdOf(parsed.applicationPart);
}
