import { createHmac, randomBytes } from 'node:crypto';

/** Secrets and signatures as Standard Webhooks 1.0 has them (symmetric, `v1`). */

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new secret, in the form in which the receiver's library takes it. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** What a webhook's secret is sealed for. */
export function secretOwner({ webhook_id }: { webhook_id: number }): string {
  return `tollgate:webhook-secret:${String(webhook_id)}`;
}

/**
 * The headers of an attempt. While a secret is exchanged there are two signatures, and the receiver accepts either.
 * The time is that of the attempt, so that a receiver may refuse what is old.
 */
export function signedHeaders(
  { message_id, payload }: { message_id: string; payload: string },
  secrets: readonly string[],
  now: Date,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${message_id}.${timestamp}.${payload}`).digest('base64')}`;
  });
  return {
    'webhook-id': message_id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
