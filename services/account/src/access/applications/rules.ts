import type { Application, LiveSecret } from './application.ts';

/** The rules of applications (service specification, "Application"), without SQL and without a clock. */

/** One minute to a hundred years. */
export const TOKEN_LIFESPAN_SEC = { min: 60, max: 3_153_600_000 };

const UNITS_SEC = [
  ['year', 31_536_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The source specification's name for what would be 1 day. */
const PRESET_LABELS: Readonly<Record<number, string>> = { 86_400: '24 hours' };

/** A lifespan as people read it: in the largest unit that it is a whole number of. */
export function lifespanLabel(lifespanSec: number): string {
  const preset = PRESET_LABELS[lifespanSec];
  if (preset !== undefined) return preset;
  const [unit, unitSec] = UNITS_SEC.find(([, seconds]) => lifespanSec % seconds === 0) ?? ['second', 1];
  const count = lifespanSec / unitSec;
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** How long a rotated secret may go on: not at all, to seven days. */
export const OVERLAP_SEC = { min: 0, max: 604_800 };

/** What a change leaves of an application's state. */
export type ApplicationState = { status: Application['status'] | 'deleted'; revocation_epoch: number };

/** When a secret ends from now on. */
export type SecretEnd = { secret_id: number; expires_at: Date };

type Before = Pick<Application, 'revocation_epoch'>;
type Secret = Pick<LiveSecret, 'secret_id' | 'expires_at'>;

/**
 * Every revocation counts, that of a revoked application too: two at once both grow the epoch, and an operator
 * who isn't sure that the first one arrived sends it once more.
 */
export function stateAfterRevoke({ revocation_epoch }: Before) {
  return { status: 'revoked' as const, revocation_epoch: revocation_epoch + 1 };
}

/** Deletion is final, and kills all tokens. */
export function stateAfterDelete({ revocation_epoch }: Before) {
  return { status: 'deleted' as const, revocation_epoch: revocation_epoch + 1 };
}

/** A new secret brings a revoked application back. The epoch stays, so its old tokens don't come with it. */
export function stateAfterRotation({ revocation_epoch }: Before) {
  return { status: 'active' as const, revocation_epoch };
}

/** Revoked or deleted, no secret is good any more, also not when a rotation brings the application back. */
export function endsAfterRevoke(live: readonly Secret[], now: Date): SecretEnd[] {
  return live.map(({ secret_id }) => ({ secret_id, expires_at: now }));
}

/**
 * Beside the new secret one old one stays live, the newest, for the overlap or until its own end where that is
 * earlier. All others end now, so that at most two are live.
 */
export function endsAfterRotation(live: readonly Secret[], now: Date, overlapSec: number): SecretEnd[] {
  const newestFirst = live.toSorted((one, other) => other.secret_id - one.secret_id);
  return newestFirst.map(({ secret_id, expires_at }, index) => {
    const overlapEnd = index === 0 ? now.getTime() + overlapSec * 1_000 : now.getTime();
    const end = Math.min(overlapEnd, expires_at?.getTime() ?? Infinity);
    return { secret_id, expires_at: new Date(end) };
  });
}
