/** The rules of tokens made by hand (service specification, "Token"), without SQL and without a clock. */

/** The temporary token's whole life. */
export const TEMPORARY_TOKEN_LIFESPAN_SEC = 43_200;

/** The states of a token, by the labels that the web interface shows. */
export type TokenStatus = 'Active' | 'Expired' | 'Revoked';

type Lifetime = { revocation_epoch: number; expires_at: Date; revoked_at: Date | null };
type ApplicationState = { status: string; revocation_epoch: number };

/**
 * What a token is now; never stored. A revoked one stays so when its time has passed too. An application that
 * was revoked and brought back has a greater epoch than its old tokens.
 */
export function tokenStatus(token: Lifetime, application: ApplicationState, now: Date): TokenStatus {
  const dead =
    token.revoked_at !== null ||
    application.status !== 'active' ||
    token.revocation_epoch < application.revocation_epoch;
  if (dead) return 'Revoked';
  return token.expires_at > now ? 'Active' : 'Expired';
}

/** From when until when a token lives that is made now: whole seconds, as introspection tells them. */
export function lifetimeFrom(now: Date, lifespanSec: number): { issued_at: Date; expires_at: Date } {
  const issuedSec = Math.floor(now.getTime() / 1_000);
  return {
    issued_at: new Date(issuedSec * 1_000),
    expires_at: new Date((issuedSec + lifespanSec) * 1_000),
  };
}
