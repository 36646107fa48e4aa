import { z } from 'zod';
import { tokenHashSchema } from './client-record.ts';

/**
 * account and auth publish ClientChanges here. Pub/sub loses messages: drop the cache when (re)subscribing, and cache
 * nothing while unsubscribed.
 */
export const CLIENT_CHANGE_CHANNEL = 'clients:changes';

const common = {
  client_id: z.uuid(),
  /** The client's, after the change: all tokens of smaller epochs are dead. Never lowered by a receiver. */
  revocation_epoch: z.int().min(0),
  /** account repeats what auth hasn't acknowledged; auth ignores what auths have published. */
  source: z.enum(['account', 'auth']),
};

/**
 * A client has changed: body of auth's `POST /private/client-changes`, which is idempotent, and message on
 * CLIENT_CHANGE_CHANNEL. A subscriber that can't read a message drops its whole cache.
 */
export const clientChangeSchema = z.discriminatedUnion('change', [
  /** Its record, or the epoch: a new name, lifespan, secret or manual token, or a revocation. */
  z.strictObject({ change: z.literal('application'), ...common }),
  /** One token is dead. */
  z.strictObject({ change: z.literal('token'), token_hash: tokenHashSchema, ...common }),
]);

export type ClientChange = z.infer<typeof clientChangeSchema>;

/** Body of account's `POST /private/clients/{client_id}/lost-revocation`; idempotent, never lowers the epoch. */
export const lostRevocationSchema = z.strictObject({ revocation_epoch: z.int().min(0) });

export type LostRevocation = z.infer<typeof lostRevocationSchema>;
