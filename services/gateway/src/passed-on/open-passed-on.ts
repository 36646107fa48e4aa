import { MAX_PAYMENT_EVENT_BYTES } from '@tollgate/contracts/payment-events';
import type { Cors } from '@tollgate/http/cors';
import type { Problem } from '@tollgate/http/problem';
import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';
import { OAuthRefusal } from './plain-routes.ts';
import { createProxy } from './proxy.ts';

/** Of one gateway. account has limits of its own. */
const MAX_LIVE_FEEDS = 1_000;
const MAX_LIVE_FEEDS_PER_ADDRESS = 250;

/** Three of account's heartbeats. */
const LIVE_USAGE_TIMEOUT_MS = 30_000;

const PAYMENT_EVENT_CONNECTIONS = 4;

/** This gateway's setting holds for its host, not the peer's. */
const OWN_FIELDS = ['strict-transport-security'];

/** Requests that wait for a connection, and bodies under way, for each connection. */
const WAITING_PER_CONNECTION = 4;

/** What the gateway passes to the public listeners of account and auth. */
export function openPassedOn(
  config: Config,
  callers: Pick<ComposeContext<Config>, 'trusts' | 'addressOf'>,
  cors: Cors | null,
) {
  const options = {
    timeoutMs: config.PLAIN_ROUTE_TIMEOUT_MS,
    connectionMaxAgeMs: config.CONNECTION_MAX_AGE_MS,
    plainHttp: config.PLAIN_HTTP === 'on',
    ...room(config.PLAIN_ROUTE_CONNECTIONS),
    maxOpenPerAddress: config.PLAIN_ROUTE_MAX_OPEN_PER_ADDRESS,
    maxBodyBytes: config.PLAIN_ROUTE_MAX_BODY_BYTES,
    bodyTimeoutMs: config.PLAIN_ROUTE_BODY_TIMEOUT_MS,
    slowReaderMs: config.PLAIN_ROUTE_SLOW_READER_MS,
    ...callers,
    drops: [...OWN_FIELDS, ...(cors?.fields.drops ?? [])],
    refusal: (problem: Problem) => problem,
  };
  return {
    account: createProxy(config.ACCOUNT_PUBLIC_URL, options),
    paymentEvents: createProxy(config.ACCOUNT_PUBLIC_URL, {
      ...options,
      ...room(PAYMENT_EVENT_CONNECTIONS),
      maxBodyBytes: MAX_PAYMENT_EVENT_BYTES,
    }),
    // With connections of their own, which stay open, so that feeds can't use up those of requests.
    liveUsage: createProxy(config.ACCOUNT_PUBLIC_URL, {
      ...options,
      timeoutMs: LIVE_USAGE_TIMEOUT_MS,
      connections: MAX_LIVE_FEEDS,
      maxWaiting: 0,
      maxOpenPerAddress: MAX_LIVE_FEEDS_PER_ADDRESS,
    }),
    auth: createProxy(config.AUTH_PUBLIC_URL, {
      ...options,
      // auth itself says which pages may read its answers (docs/design/authorization.md).
      drops: OWN_FIELDS,
      refusal: (problem) => new OAuthRefusal(problem),
    }),
  };
}

/** Bodies are in memory while they arrive and wait, so both are bounded by the connections that they are for. */
function room(connections: number) {
  const maxHeld = WAITING_PER_CONNECTION * connections;
  return { connections, maxWaiting: maxHeld, maxArriving: maxHeld };
}
