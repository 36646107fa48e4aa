/** Why an attempt failed, with its meaning in docs/webhooks.md. */
const ATTEMPT_MEANINGS = {
  no_public_address: "the host has no public address; the log doesn't tell whether the name exists",
  connection_failed: 'the connection was refused or lost',
  tls_failed: "the certificate isn't valid for the name, or the TLS handshake failed",
  timeout: "the server couldn't be connected to, or didn't respond, in time",
  invalid_response: "the response isn't HTTP",
  unexpected_status: "the server responded with `response_status`, which isn't 2xx",
  gone: 'the server responded with 410',
  secret_unavailable: "Tollgate can't decrypt the webhook's secret; contact support or rotate the secret",
} as const;

export type AttemptError = keyof typeof ATTEMPT_MEANINGS;

export const ATTEMPT_ERRORS = Object.keys(ATTEMPT_MEANINGS) as AttemptError[];

/** Why a delivery failed: its last attempt did, or no other one was made. */
export const DELIVERY_MEANINGS = {
  ...ATTEMPT_MEANINGS,
  webhook_disabled: 'the webhook was disabled while the message was pending',
} as const;

export type DeliveryError = keyof typeof DELIVERY_MEANINGS;

export const DELIVERY_ERRORS = Object.keys(DELIVERY_MEANINGS) as DeliveryError[];
