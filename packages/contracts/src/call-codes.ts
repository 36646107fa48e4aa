import { ERROR_CODES } from './error-codes.ts';
import type { ERROR_CHAPTERS } from './error-codes.ts';

/** What a code of a refused or failed data call means, and what the caller can do about it, as plain text. */
export type CallCode = { title: string; meaning: string; fix: string };

type Chapters = typeof ERROR_CHAPTERS;

/** What the gateway answers to a data call. A code that is added to these chapters must be explained here. */
type CallProblem =
  | 'unauthorized'
  | 'forbidden'
  | 'account_blocked'
  | Exclude<
      keyof (Chapters['plan-and-limits'] & Chapters['requests'] & Chapters['availability']),
      'no_billing_period' | 'not_found'
    >;

/** The problems of data calls; the table of all codes also says what concerns other callers, or the operator. */
const CALL_PROBLEMS = {
  unauthorized: {
    meaning: 'The token is missing, malformed, expired or revoked.',
    fix: 'Get a new token.',
  },
  forbidden: {},
  account_blocked: {},
  no_active_billing_period: {},
  points_limit_exceeded: {},
  budget_exceeded: {},
  points_reserved: {},
  time_limit_exceeded: {},
  traffic_limit_exceeded: {},
  rate_limit_exceeded: {},
  session_limit_exceeded: {},
  subscription_limit_exceeded: {},
  too_many_streams: {},
  invalid_request: { meaning: 'The request is malformed.', fix: 'Fix the request as the message says.' },
  batch_too_large: {},
  document_invalid: { meaning: "The GraphQL document can't be parsed, or doesn't match the schema." },
  call_too_expensive: { meaning: 'The operation would cost more points than the plan allows for one call.' },
  price_unknown: {},
  document_unknown: {},
  document_not_trusted: { meaning: "Only registered documents run, and this one isn't." },
  PERSISTED_QUERY_NOT_FOUND: {},
  persisted_query_mismatch: {},
  document_too_deep: {},
  too_many_aliases: {},
  too_many_root_fields: {},
  too_many_tokens: {},
  too_many_directives: {},
  introspection_disabled: {},
  subscriptions_only: {},
  method_not_allowed: {},
  request_timeout: {},
  payload_too_large: {},
  document_too_large: {},
  uri_too_long: { meaning: 'The request target is too long.' },
  unsupported_media_type: {
    meaning: "The endpoint doesn't accept this content type.",
    fix: 'Send application/json.',
  },
  too_many_requests: { meaning: 'Too many WebSockets, messages or unfinished bodies.' },
  header_fields_too_large: { meaning: "The request's head is too large." },
  internal_error: {},
  upstream_unreachable: {},
  service_unavailable: {},
  upstream_timeout: {},
  http_version_not_supported: { fix: 'Send HTTP/1.1.' },
} as const satisfies Record<CallProblem, Partial<CallCode>>;

/** Whether an answer has it, so that the table of all errors explains it, too. */
export function isAnswered(code: string): boolean {
  return Object.hasOwn(CALL_PROBLEMS, code);
}

/** Codes that only records and closed sockets have, in Markdown. */
export const RECORD_CODES = {
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
    meaning: 'No `connection_init` arrived in time.',
    fix: 'Connect again when you need to.',
  },
  duplicate_operation: {
    title: 'The operation ID is in use',
    meaning: "The operation's id is in use.",
    fix: 'Give each open operation an id of its own.',
  },
  too_many_initialisations: {
    title: 'Too many initialisations',
    meaning: 'The client sent a second `connection_init`.',
    fix: 'Send `connection_init` once per connection.',
  },
  slow_consumer: {
    title: 'Messages were not read in time',
    meaning: "The client didn't read its messages in time.",
    fix: 'Read faster, or subscribe to less.',
  },
} as const satisfies Record<string, CallCode>;

/** Each code of a refused or failed data call. A gateway that is newer than the reader may send others. */
export const CALL_CODES: Readonly<Record<string, CallCode>> = Object.fromEntries([
  ...Object.entries(CALL_PROBLEMS).map(([code, forCalls]) => {
    const { title, meaning, fix } = ERROR_CODES[code as keyof typeof CALL_PROBLEMS];
    return [code, plain({ title, meaning, fix, ...forCalls })] as const;
  }),
  ...Object.entries(RECORD_CODES).map(([code, explained]) => [code, plain(explained)] as const),
]);

function plain({ title, meaning, fix }: CallCode): CallCode {
  return { title, meaning: meaning.replaceAll('`', ''), fix: fix.replaceAll('`', '') };
}
