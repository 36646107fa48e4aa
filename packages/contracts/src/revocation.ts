import { z } from 'zod';

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
 * The Redis channel on which auth tells everyone who keeps introspections what has died. Pub/sub loses what is
 * said while a subscriber is away, so a subscriber drops all that it keeps when it (re)subscribes, and keeps
 * nothing while it isn't subscribed.
 */
export const REVOCATION_CHANNEL = 'auth:revocations';

/** A message on that channel, as JSON. A subscriber that can't read one drops all that it keeps. */
export const revocationSchema = z.discriminatedUnion('kind', [
  /** All that is known of a client and of its tokens is out of date. */
  z.object({ kind: z.literal('client'), client_id: z.uuid() }),
  /** One token is dead. `token_hash` is its SHA-256 in base64url, as @tollgate/access-token makes it. */
  z.object({ kind: z.literal('token'), token_hash: z.string().regex(/^[A-Za-z0-9_-]{43}$/) }),
]);

export type Revocation = z.infer<typeof revocationSchema>;
