export const TEMPORARY_TOKEN_LIFESPAN_SEC = 43_200;

/** Labels of the web interface. */
export type TokenStatus = 'Active' | 'Expired' | 'Revoked';

type Lifetime = { revocation_epoch: number; expires_at: Date; revoked_at: Date | null };
type ApplicationState = { status: string; revocation_epoch: number };

/** Derived, never stored. A revoked token stays Revoked after it expires. */
export function tokenStatus(token: Lifetime, application: ApplicationState, now: Date): TokenStatus {
  const dead =
    token.revoked_at !== null ||
    application.status !== 'active' ||
    token.revocation_epoch < application.revocation_epoch;
  if (dead) return 'Revoked';
  return token.expires_at > now ? 'Active' : 'Expired';
}

/** In whole seconds, as introspection returns them. */
export function lifetimeFrom(now: Date, lifespanSec: number): { issued_at: Date; expires_at: Date } {
  const issuedSec = Math.floor(now.getTime() / 1_000);
  return {
    issued_at: new Date(issuedSec * 1_000),
    expires_at: new Date((issuedSec + lifespanSec) * 1_000),
  };
}
