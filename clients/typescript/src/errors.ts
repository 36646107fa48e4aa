/** What is known of a failure: never a token, a secret or a body of an unknown form. */
export type ErrorFacts = { code: string; message: string } & Partial<
  Omit<DataApiError, 'code' | 'message' | 'name'>
>;

/** The base of all errors of this library. Codes that it doesn't know have no other class. */
export class TollgateError extends Error {
  /** Branch on it, not on the message: docs/errors.md lists them all. */
  declare readonly code: ErrorCode | (string & {});
  /** Of the HTTP response; undefined if there was none. */
  declare readonly status: number | undefined;
  /** For support. */
  declare readonly requestId: string | undefined;
  /** Of the plan or budget, and what is left of it. */
  declare readonly limit: number | undefined;
  declare readonly remaining: number | undefined;
  /** How long to wait, from the response on. */
  declare readonly retryAfterMs: number | undefined;
  /** When the limit resets: at the end of the billing period or of the budget's window. */
  declare readonly resetsAt: Date | undefined;
  /** What else the refusal states, such as `budget`, `buy_url` or `locations`. */
  declare readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(facts: ErrorFacts) {
    super(facts.message.slice(0, MAX_MESSAGE_CHARACTERS), { cause: facts.cause });
    const { message: _, cause: __, ...rest } = facts;
    Object.assign(this, { name: new.target.name, ...rest });
  }
}

/** The credentials or the token aren't accepted. */
export class AuthenticationError extends TollgateError {}
/** The credential is valid, but not for this. */
export class AccessDeniedError extends TollgateError {}
/** The plan, a budget or the billing period is used up. */
export class PlanError extends TollgateError {}
/** Too many at a time: wait `retryAfterMs`. */
export class RateLimitError extends TollgateError {}
/** The request must be changed. */
export class RequestError extends TollgateError {}
/** A part of the service is unavailable. */
export class UnavailableError extends TollgateError {}
/** No usable response: `connection_failed`, `timeout`, `redirected`, `invalid_response`, `response_too_large`. */
export class ConnectionError extends TollgateError {}

/** The data API's own: `data_api_error` for errors of a GraphQL result, else `upstream_error`. */
export class DataApiError extends TollgateError {
  declare readonly errors: readonly GraphQLErrorLike[];
  /** Of the result, where the errors left some. */
  declare readonly data: unknown;
  /** Points that the call cost. */
  declare readonly cost: number | undefined;
}

export type GraphQLErrorLike = {
  message: string;
  path?: readonly (string | number)[];
  extensions?: Readonly<Record<string, unknown>>;
};

const MAX_MESSAGE_CHARACTERS = 500;

/** The codes of docs/errors.md that a caller can get; a test compares both. */
const CODES = [
  [AuthenticationError, 'unauthorized invalid_credentials invalid_client invalid_grant invalid_token'],
  [AccessDeniedError, 'forbidden csrf_token_required confirmation_required account_blocked'],
  [
    AccessDeniedError,
    'account_deletion_pending insufficient_role team_role sso_required unauthorized_client',
  ],
  [PlanError, 'no_active_billing_period points_limit_exceeded budget_exceeded time_limit_exceeded'],
  [PlanError, 'traffic_limit_exceeded no_billing_period mcp_not_in_plan mcp_mutations_not_in_plan'],
  [RateLimitError, 'rate_limit_exceeded session_limit_exceeded subscription_limit_exceeded too_many_streams'],
  [RateLimitError, 'too_many_requests too_many_initialisations slow_consumer points_reserved'],
  [RequestError, 'invalid_request batch_too_large document_invalid document_too_deep document_too_large'],
  [RequestError, 'too_many_aliases too_many_root_fields too_many_tokens too_many_directives'],
  [RequestError, 'introspection_disabled subscriptions_only not_found method_not_allowed request_timeout'],
  [RequestError, 'payload_too_large uri_too_long unsupported_media_type header_fields_too_large'],
  [RequestError, 'http_version_not_supported unsupported_grant_type invalid_scope invalid_target'],
  [RequestError, 'duplicate_operation invalid_redirect_uri invalid_client_metadata'],
  [RequestError, 'call_too_expensive price_unknown document_unknown persisted_query_mismatch'],
  [RequestError, 'PERSISTED_QUERY_NOT_FOUND document_not_trusted'],
  [UnavailableError, 'connection_init_timeout idle_timeout internal_error server_error service_restart'],
  [UnavailableError, 'upstream_unreachable upstream_timeout upstream_closed service_unavailable'],
  [UnavailableError, 'temporarily_unavailable'],
] as const;

type Words<Text extends string> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;

export type ErrorCode = Words<(typeof CODES)[number][1]>;

const CLASSES = new Map<string, typeof TollgateError>(
  CODES.flatMap(([Class, words]) => words.split(' ').map((code) => [code, Class] as const)),
);

export const ERROR_CODES = [...CLASSES.keys()] as readonly ErrorCode[];

export function errorOfCode(facts: ErrorFacts): TollgateError {
  return new (CLASSES.get(facts.code) ?? TollgateError)(facts);
}
