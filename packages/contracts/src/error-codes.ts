/**
 * Every error code that a caller can meet, with its HTTP status and public title.
 * docs/errors.md explains each; a test holds the two together.
 */
export const ERROR_CODES = {
  unauthorized: { status: 401, title: 'Unauthorized' },
  invalid_request: { status: 400, title: 'The request is malformed' },
  forbidden: { status: 403, title: 'Forbidden' },
  account_blocked: { status: 403, title: 'The account is blocked' },
  no_active_billing_period: { status: 402, title: 'There is no active billing period' },
  no_billing_period: { status: 404, title: 'The account has never had a billing period' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  payload_too_large: { status: 413, title: 'The request body is too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  internal_error: { status: 500, title: 'Internal error' },
  upstream_unreachable: { status: 502, title: 'The data API could not be reached' },
  service_unavailable: { status: 503, title: 'Temporarily unavailable' },
  upstream_timeout: { status: 504, title: 'The data API did not answer in time' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
