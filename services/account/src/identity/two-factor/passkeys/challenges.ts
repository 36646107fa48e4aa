import { randomBytes } from 'node:crypto';
import type { Query } from '../../../platform/database/query.ts';

const LIFETIME_SEC = 300;

export type ChallengeFor =
  | { purpose: 'register' | 'second_step' | 'confirm'; accountId: number }
  | { purpose: 'sign_in'; accountId: null };

/** As long as the browser waits for the authenticator. */
export const CHALLENGE_TIMEOUT_MS = LIFETIME_SEC * 1_000;

const CHALLENGE_BYTES = 32;

export async function newChallenge(query: Query, { purpose, accountId }: ChallengeFor): Promise<Buffer> {
  const challenge = randomBytes(CHALLENGE_BYTES);
  await query(
    `INSERT INTO passkey_challenges (challenge, purpose, account_id, expires_at)
     VALUES (:challenge, :purpose, :accountId, now() + ${String(LIFETIME_SEC)} * interval '1 second')`,
    { challenge: challenge.toString('base64url'), purpose, accountId },
  );
  return challenge;
}

/** Each is good for one response, also for one that turns out wrong: `query` isn't a transaction's. */
export async function consumeChallenge(
  query: Query,
  challenge: string,
  { purpose, accountId }: ChallengeFor,
): Promise<boolean> {
  const rows = await query(
    `DELETE FROM passkey_challenges
     WHERE challenge = :challenge AND purpose = :purpose AND account_id IS NOT DISTINCT FROM :accountId
       AND expires_at > now() RETURNING 1`,
    { challenge, purpose, accountId },
  );
  return rows.length > 0;
}
