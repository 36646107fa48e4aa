import { ERROR_CODES } from './error-codes.ts';
import type { ErrorCode } from './error-codes.ts';

/** What a code of a refused or failed data call means, and what the caller can do about it. */
export type CallCode = { title: string; meaning: string; fix: string };

type Explained = Omit<CallCode, 'title'>;

const NEXT_PERIOD = 'Upgrade on the Plan page, or wait for the next period.';
const RETRY_AFTER = 'Retry after Retry-After seconds.';

const ERRORS = {
  unauthorized: {
    meaning: 'The token is missing, malformed, expired or revoked.',
    fix: 'Get a new token.',
  },
  forbidden: {
    meaning: 'The credential is valid but not for this request.',
    fix: "Check the token's scope and the origin of the page that sent it.",
  },
  account_blocked: {
    meaning: 'The account, its payer or the billing period is blocked.',
    fix: 'Contact support.',
  },
  no_active_billing_period: {
    meaning: 'The period and its grace window have ended, or there never was a period.',
    fix: 'Choose a plan on the Plan page.',
  },
  points_limit_exceeded: { meaning: "The period's points are used up.", fix: NEXT_PERIOD },
  time_limit_exceeded: {
    meaning: "The period's subscription time is used up; open subscriptions end.",
    fix: NEXT_PERIOD,
  },
  traffic_limit_exceeded: {
    meaning: "The period's response bytes are used up; open subscriptions end.",
    fix: NEXT_PERIOD,
  },
  rate_limit_exceeded: {
    meaning: "The payer's data calls exceed the plan's calls per minute.",
    fix: RETRY_AFTER,
  },
  session_limit_exceeded: {
    meaning: 'As many data calls as the plan allows are in flight.',
    fix: 'Wait until one ends.',
  },
  subscription_limit_exceeded: {
    meaning: 'As many subscriptions as the plan allows are open.',
    fix: 'Close one, or wait until one ends.',
  },
  too_many_streams: {
    meaning: 'The payer has as many streams as one gateway holds for it.',
    fix: 'Close one, or wait until one ends.',
  },
  invalid_request: {
    meaning: 'The request is malformed.',
    fix: 'Fix the request as the message says.',
  },
  subscriptions_only: {
    meaning:
      'A query, mutation or persisted operation was sent over WebSocket, where only subscriptions are allowed.',
    fix: 'Send it by POST.',
  },
  method_not_allowed: {
    meaning: "The path doesn't support the method.",
    fix: 'Use a method that the Allow header lists.',
  },
  request_timeout: {
    meaning: "The request didn't arrive in time: it stalled, or took too long overall.",
    fix: 'Send it again.',
  },
  payload_too_large: {
    meaning: 'The body, also decoded, or the GraphQL document is over the limit.',
    fix: 'Send less.',
  },
  uri_too_long: { meaning: 'The request target is too long.', fix: 'Send the GraphQL query by POST.' },
  unsupported_media_type: {
    meaning: "The endpoint doesn't accept this content type.",
    fix: 'Send application/json.',
  },
  too_many_requests: { meaning: 'Too many WebSockets, messages or unfinished bodies.', fix: RETRY_AFTER },
  header_fields_too_large: {
    meaning: "The request's head is too large.",
    fix: 'Send fewer or shorter header fields.',
  },
  internal_error: { meaning: 'A bug in Tollgate.', fix: 'Contact support with the request ID.' },
  upstream_unreachable: {
    meaning: "The data API couldn't be reached; the call cost nothing.",
    fix: 'Retry.',
  },
  service_unavailable: { meaning: 'A part of Tollgate is unavailable.', fix: RETRY_AFTER },
  upstream_timeout: {
    meaning: "The data API didn't respond in time; the call cost nothing.",
    fix: 'Retry.',
  },
  http_version_not_supported: {
    meaning: 'The request names a version of HTTP above 1.1.',
    fix: 'Send HTTP/1.1.',
  },
} as const satisfies Partial<Record<ErrorCode, Explained>>;

/** Codes that only records and closed sockets have. */
const OWN = {
  upstream_error: {
    title: 'The data API answered with an error',
    meaning: 'The data API answered with an HTTP error of its own.',
    fix: 'Read the response. Fix the request after a 4xx; retry after a 5xx.',
  },
  broken: {
    title: 'The response broke off',
    meaning: 'The data API broke off its response.',
    fix: 'Retry. A change may have been applied.',
  },
  unrecorded: {
    title: 'The usage was not recorded in time',
    meaning: "The connection was cut because the usage couldn't be recorded in time.",
    fix: 'Retry. A change may have been applied.',
  },
  upstream_closed: {
    title: 'The data API closed the WebSocket',
    meaning: 'The data API closed the WebSocket.',
    fix: 'Connect again. If it happens again, contact support.',
  },
  connection_init_timeout: {
    title: 'No connection_init in time',
    meaning: 'No connection_init arrived in time.',
    fix: 'Connect again when you need to.',
  },
  duplicate_operation: {
    title: 'The operation ID is in use',
    meaning: "The operation's id is in use.",
    fix: 'Give each open operation an id of its own.',
  },
  too_many_initialisations: {
    title: 'Too many initialisations',
    meaning: 'The client sent a second connection_init.',
    fix: 'Send connection_init once per connection.',
  },
  slow_consumer: {
    title: 'Messages were not read in time',
    meaning: "The client didn't read its messages in time.",
    fix: 'Read faster, or subscribe to less.',
  },
} as const satisfies Record<string, CallCode>;

/**
 * Each code of a refused or failed data call, in the words of docs/errors.md (a test compares them). A gateway that is
 * newer than the reader may send others.
 */
export const CALL_CODES: Readonly<Record<string, CallCode>> = {
  ...Object.fromEntries(
    Object.entries(ERRORS).map(([code, explained]) => [
      code,
      { title: ERROR_CODES[code as keyof typeof ERRORS].title, ...explained },
    ]),
  ),
  ...OWN,
};
