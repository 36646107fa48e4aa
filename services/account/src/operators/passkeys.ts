import { randomBytes } from 'node:crypto';
import { CHALLENGE_TIMEOUT_MS } from '../identity/two-factor/passkeys/challenges.ts';
import { checkAssertion, relyingPartyIn } from '../identity/two-factor/passkeys/assertion.ts';
import type { WebauthnOptions } from '../identity/two-factor/passkeys/assertion.ts';
import { passkeyRefused } from '../identity/two-factor/passkeys/input.ts';
import type { Assertion, Registration } from '../identity/two-factor/passkeys/input.ts';
import { checkRegistration } from '../identity/two-factor/passkeys/registration.ts';
import type { RelyingParty } from '../identity/two-factor/passkeys/relying-party.ts';
import { webauthn } from '../identity/two-factor/passkeys/webauthn.ts';
import type { Query } from '../platform/database/query.ts';
import { findOperatorPasskey } from './store.ts';
import type { OperatorPasskey, OperatorPerson } from './store.ts';

/**
 * Passkeys of local operators. A passkey is all that they sign in with, so the authenticator must verify its user each
 * time. Undefined: OPERATORS_URL isn't set, or passkeys can't work there.
 */
export type OperatorPasskeyNeeds = { query: Query; operatorRelyingParty: RelyingParty | undefined };

const CHALLENGE_BYTES = 32;

async function newChallenge(query: Query, operatorId: number | null): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = randomBytes(CHALLENGE_BYTES);
  await query(
    `INSERT INTO operator_challenges (challenge, operator_id, expires_at)
     VALUES (:challenge, :operatorId, now() + ${String(CHALLENGE_TIMEOUT_MS / 1_000)} * interval '1 second')`,
    { challenge: challenge.toString('base64url'), operatorId },
  );
  return new Uint8Array(challenge);
}

/** Each is good for one response, also for one that turns out wrong: `query` isn't a transaction's. */
async function takeChallenge(query: Query, challenge: string, operatorId: number | null): Promise<boolean> {
  const rows = await query(
    `DELETE FROM operator_challenges WHERE challenge = :challenge
       AND operator_id IS NOT DISTINCT FROM :operatorId AND expires_at > now() RETURNING 1`,
    { challenge, operatorId },
  );
  return rows.length > 0;
}

/** @throws {Problem} passkeys_unavailable */
export async function operatorAssertionOptions(needs: OperatorPasskeyNeeds): Promise<WebauthnOptions> {
  const { id: rpID } = relyingPartyIn({ relyingParty: needs.operatorRelyingParty });
  const challenge = await newChallenge(needs.query, null);
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID,
    challenge,
    timeout: CHALLENGE_TIMEOUT_MS,
    userVerification: 'required',
  });
  return { ...options };
}

/** Whose passkey answered. The caller must note its use. @throws {Problem} invalid_request; passkeys_unavailable */
export async function verifyOperatorAssertion(
  needs: OperatorPasskeyNeeds,
  assertion: Assertion,
): Promise<OperatorPasskey & OperatorPerson> {
  const relyingParty = relyingPartyIn({ relyingParty: needs.operatorRelyingParty });
  const passkey = await findOperatorPasskey(needs.query, assertion.id);
  if (passkey === undefined) throw passkeyRefused();
  const { userHandle } = assertion.response;
  const own = userHandleOf(passkey.operator_id).toString('base64url');
  if (typeof userHandle === 'string' && userHandle !== own) throw passkeyRefused();
  const sign_count = await checkAssertion(relyingParty, assertion, passkey, {
    takeChallenge: (challenge) => takeChallenge(needs.query, challenge, null),
    requireUserVerification: true,
  });
  return { ...passkey, sign_count };
}

/** @throws {Problem} passkeys_unavailable */
export async function enrolmentOptions(
  needs: OperatorPasskeyNeeds & { productName: string },
  { operator_id, name, email }: OperatorPerson,
): Promise<WebauthnOptions> {
  const { id: rpID } = relyingPartyIn({ relyingParty: needs.operatorRelyingParty });
  const challenge = await newChallenge(needs.query, operator_id);
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: `${needs.productName} operators`,
    rpID,
    userName: email ?? name,
    userDisplayName: name,
    userID: new Uint8Array(userHandleOf(operator_id)),
    challenge,
    timeout: CHALLENGE_TIMEOUT_MS,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return { ...options };
}

/** @throws {Problem} invalid_request; passkeys_unavailable */
export async function verifyEnrolment(
  needs: OperatorPasskeyNeeds,
  registration: Registration,
  operatorId: number,
): Promise<OperatorPasskey> {
  const relyingParty = relyingPartyIn({ relyingParty: needs.operatorRelyingParty });
  return checkRegistration(relyingParty, registration, {
    takeChallenge: (challenge) => takeChallenge(needs.query, challenge, operatorId),
    requireUserVerification: true,
  });
}

/** Nothing personal, and never an account's (identity/two-factor/passkeys/user-handle.ts). */
function userHandleOf(operatorId: number): Buffer<ArrayBuffer> {
  return Buffer.from(`tollgate-operator-${String(operatorId)}`);
}
