import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks 1.0 (symmetric, `v1`). */

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** In the format that receivers' libraries accept. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function secretOwner({ webhook_id }: { webhook_id: number }): string {
  return `tollgate:webhook-secret:${String(webhook_id)}`;
}

/**
 * During an overlap there are two signatures. The timestamp is the attempt's, so that receivers can refuse
 * old messages.
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
