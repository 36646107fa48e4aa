import type { Application, LiveSecret } from './application.ts';

/** One minute to a hundred years. */
export const TOKEN_LIFESPAN_SEC = { min: 60, max: 3_153_600_000 };

/** People's refresh tokens renew it, so a longer one would only outlive what they took back elsewhere. */

const UNITS_SEC = [
  ['year', 31_536_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Label of the source specification. */
const PRESET_LABELS: Readonly<Record<number, string>> = { 86_400: '24 hours' };

export function lifespanLabel(lifespanSec: number): string {
  const preset = PRESET_LABELS[lifespanSec];
  if (preset !== undefined) return preset;
  const [unit, unitSec] = UNITS_SEC.find(([, seconds]) => lifespanSec % seconds === 0) ?? ['second', 1];
  const count = lifespanSec / unitSec;
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** Seven days. */
export const OVERLAP_SEC = { min: 0, max: 604_800 };

export type ApplicationState = { status: Application['status'] | 'deleted'; revocation_epoch: number };

export type SecretEnd = { secret_id: number; expires_at: Date };

type Before = Pick<Application, 'revocation_epoch'>;
type Secret = Pick<LiveSecret, 'secret_id' | 'expires_at'>;

/** Also raises the epoch of a revoked application, so that repeating a revocation is safe. */
export function stateAfterRevoke({ revocation_epoch }: Before) {
  return { status: 'revoked' as const, revocation_epoch: revocation_epoch + 1 };
}

export function stateAfterDelete({ revocation_epoch }: Before) {
  return { status: 'deleted' as const, revocation_epoch: revocation_epoch + 1 };
}

/** The epoch stays, so that old tokens stay dead. */
export function stateAfterRotation({ revocation_epoch }: Before) {
  return { status: 'active' as const, revocation_epoch };
}

export function endsAfterRevoke(live: readonly Secret[], now: Date): SecretEnd[] {
  return live.map(({ secret_id }) => ({ secret_id, expires_at: now }));
}

/** When the secret of an earlier rotation ends; undefined if none is live. Until then, another one is refused. */
export function previousSecretEnd(live: readonly Secret[]): Date | undefined {
  return live.find(({ expires_at }) => expires_at !== null)?.expires_at ?? undefined;
}

/** The current secret, if there is one, lives for the overlap. */
export function endsAfterRotation(live: readonly Secret[], now: Date, overlapSec: number): SecretEnd[] {
  const expires_at = new Date(now.getTime() + overlapSec * 1_000);
  return live.map(({ secret_id }) => ({ secret_id, expires_at }));
}
