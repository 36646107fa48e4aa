/** docs/webhooks.md. */
export const ATTEMPT_ERRORS = [
  'no_public_address',
  'connection_failed',
  'tls_failed',
  'timeout',
  'invalid_response',
  'unexpected_status',
  'gone',
  'secret_unavailable',
] as const;

export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** `webhook_disabled`: the webhook was disabled before another attempt. */
export const DELIVERY_ERRORS = [...ATTEMPT_ERRORS, 'webhook_disabled'] as const;

export type DeliveryError = (typeof DELIVERY_ERRORS)[number];
