import { z } from 'zod';
import { tokenHashSchema } from './client-record.ts';

/** Body of auth's `PUT /private/clients/{client_id}/revocation-epoch`; idempotent, never lowers the epoch. */
export const revocationEpochSchema = z.strictObject({
  revocation_epoch: z.int().min(0),
});

export type RevocationEpoch = z.infer<typeof revocationEpochSchema>;

/** Query of that PUT. Without it (previous version), any of the client's tokens may be dead. */
export const clientChangeSchema = z.discriminatedUnion('change', [
  /** Ends only tokens below the epoch; also sent after a new name, secret or token. */
  z.object({ change: z.literal('application') }),
  z.object({ change: z.literal('token'), token_hash: tokenHashSchema }),
]);

export type ClientChange = z.infer<typeof clientChangeSchema>;

/** Pub/sub loses messages: drop the cache when (re)subscribing, and cache nothing while unsubscribed. */
export const REVOCATION_CHANNEL = 'auth:revocations';

/** account repeats what auth hasn't acknowledged; auth ignores its own messages. */
const source = z.string().optional();

/** A subscriber that can't read a message drops its whole cache. */
export const revocationSchema = z.discriminatedUnion('kind', [
  /** Tokens below the epoch are dead; without an epoch (previous version), any may be. */
  z.object({
    kind: z.literal('client'),
    client_id: z.uuid(),
    revocation_epoch: z.int().min(0).optional(),
    source,
  }),
  z.object({
    kind: z.literal('token'),
    token_hash: tokenHashSchema,
    /** Sent with the client's epoch by account, for a manual token. */
    client_id: z.uuid().optional(),
    revocation_epoch: z.int().min(0).optional(),
    source,
  }),
]);

export type Revocation = z.infer<typeof revocationSchema>;

/** Null is a change by the previous version, which may have ended any token. */
export function revocationOf(
  { client_id, revocation_epoch }: { client_id: string; revocation_epoch: number },
  change: ClientChange | null,
): Revocation {
  if (change === null) return { kind: 'client', client_id };
  if (change.change === 'application') return { kind: 'client', client_id, revocation_epoch };
  return { kind: 'token', token_hash: change.token_hash, client_id, revocation_epoch };
}
