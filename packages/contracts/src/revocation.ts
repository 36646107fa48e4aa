import { z } from 'zod';
import { tokenHashSchema } from './client-record.ts';

/**
 * Body of auth's `PUT /private/clients/{client_id}/revocation-epoch`: this client's record has changed. auth
 * drops what it has cached of it, and tokens issued under a smaller epoch are dead from then on. Answered with
 * 204; idempotent, and a smaller epoch than the known one only drops what is cached.
 */
export const revocationEpochSchema = z.strictObject({
  /** The committed `applications.revocation_epoch`. */
  revocation_epoch: z.int().min(0),
});

export type RevocationEpoch = z.infer<typeof revocationEpochSchema>;

/**
 * What a change of a client has ended; the query of that PUT. Without it, as the version before asks, any of the
 * client's tokens may have died.
 */
export const clientChangeSchema = z.discriminatedUnion('change', [
  /** The tokens below its epoch, and no other: a revocation, but also a new name, secret or token. */
  z.object({ change: z.literal('application') }),
  /** One token made by hand as well. */
  z.object({ change: z.literal('token'), token_hash: tokenHashSchema }),
]);

export type ClientChange = z.infer<typeof clientChangeSchema>;

/**
 * The Redis channel on which account and auth tell everyone who keeps introspections what has died. Pub/sub loses
 * what is said while a subscriber is away, so a subscriber drops all that it keeps when it (re)subscribes, and
 * keeps nothing while it isn't subscribed. Every change is said at least once, and may be said many times.
 */
export const REVOCATION_CHANNEL = 'auth:revocations';

/** account repeats a message that auth hasn't acknowledged; auth itself acts only on what another says. */
const source = z.string().optional();

/** A message on that channel, as JSON. A subscriber that can't read one drops all that it keeps. */
export const revocationSchema = z.discriminatedUnion('kind', [
  /**
   * The client has changed. Its tokens below the epoch are dead, and no others; without an epoch (the version
   * before) any of them may be.
   */
  z.object({
    kind: z.literal('client'),
    client_id: z.uuid(),
    revocation_epoch: z.int().min(0).optional(),
    source,
  }),
  /** One token is dead. `token_hash` is its SHA-256 in base64url, as @tollgate/credentials/access-token makes it. */
  z.object({
    kind: z.literal('token'),
    token_hash: tokenHashSchema,
    /** Whose it is, with the client's epoch: where account says it, of a token made by hand. */
    client_id: z.uuid().optional(),
    revocation_epoch: z.int().min(0).optional(),
    source,
  }),
]);

export type Revocation = z.infer<typeof revocationSchema>;

/** The message that tells of a client's change; null is one of the version before, which may have ended anything. */
export function revocationOf(
  { client_id, revocation_epoch }: { client_id: string; revocation_epoch: number },
  change: ClientChange | null,
): Revocation {
  if (change === null) return { kind: 'client', client_id };
  if (change.change === 'application') return { kind: 'client', client_id, revocation_epoch };
  return { kind: 'token', token_hash: change.token_hash, client_id, revocation_epoch };
}
