import { Problem } from '@tollgate/http/problem';
import type { Query } from '../../../platform/database/query.ts';
import { CHALLENGE_TIMEOUT_MS, consumeChallenge, newChallenge } from './challenges.ts';
import type { ChallengeFor } from './challenges.ts';
import { passkeyRefused } from './input.ts';
import type { Assertion } from './input.ts';
import { findPasskey, passkeyDescriptors } from './passkey-store.ts';
import type { Passkey } from './passkey-store.ts';
import type { RelyingParty } from './relying-party.ts';
import { userHandleOf } from './user-handle.ts';
import { webauthn } from './webauthn.ts';

/** What passkeys are verified with. Undefined: they can't work at PUBLIC_URL. */
export type PasskeyNeeds = { query: Query; relyingParty: RelyingParty | undefined };

/** @throws {Problem} passkeys_unavailable */
export function relyingPartyIn({ relyingParty }: Pick<PasskeyNeeds, 'relyingParty'>): RelyingParty {
  if (relyingParty !== undefined) return relyingParty;
  throw new Problem('passkeys_unavailable', {
    detail: 'Passkeys need a domain name and TLS. This installation has neither.',
  });
}

/**
 * Without a password before it, a passkey is both factors only if the authenticator has verified its user by a PIN or a
 * fingerprint; beside a password, having it is enough.
 */
const needsUserVerification = ({ purpose }: ChallengeFor) => purpose === 'sign_in';

/** As the browser's API takes them, which is all that reads more than `challenge`. */
export type WebauthnOptions = { challenge: string; [option: string]: unknown };

/** `PublicKeyCredentialRequestOptionsJSON` for the browser. @throws {Problem} passkeys_unavailable */
export async function assertionOptions(needs: PasskeyNeeds, wanted: ChallengeFor): Promise<WebauthnOptions> {
  const { id: rpID } = relyingPartyIn(needs);
  const known = wanted.accountId === null ? [] : await passkeyDescriptors(needs.query, wanted.accountId);
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID,
    challenge: new Uint8Array(await newChallenge(needs.query, wanted)),
    timeout: CHALLENGE_TIMEOUT_MS,
    userVerification: needsUserVerification(wanted) ? 'required' : 'preferred',
    allowCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
  });
  return { ...options };
}

/**
 * Verifies a response and consumes its challenge. The caller must note the use (`notePasskeyUse`) in its transaction,
 * which detects a passkey that is used twice at once. @throws {Problem} invalid_request; passkeys_unavailable
 */
export async function verifyAssertion(
  needs: PasskeyNeeds,
  assertion: Assertion,
  wanted: ChallengeFor,
): Promise<Passkey> {
  const relyingParty = relyingPartyIn(needs);
  const passkey = await findPasskey(needs.query, assertion.id);
  if (passkey === undefined) throw passkeyRefused();
  const { account_id } = passkey;
  const { userHandle } = assertion.response;
  if (wanted.accountId !== null && wanted.accountId !== account_id) throw passkeyRefused();
  if (typeof userHandle === 'string' && userHandle !== userHandleOf(account_id).toString('base64url')) {
    throw passkeyRefused();
  }
  const newCounter = await checkAssertion(relyingParty, assertion, passkey, {
    takeChallenge: (challenge) => consumeChallenge(needs.query, challenge, wanted),
    requireUserVerification: needsUserVerification(wanted),
  });
  return { ...passkey, sign_count: newCounter };
}

/** Whose passkey it is, is the caller's to check. Returns the new count. @throws {Problem} invalid_request */
export async function checkAssertion(
  relyingParty: RelyingParty,
  assertion: Assertion,
  { credential_id, public_key, sign_count }: Pick<Passkey, 'credential_id' | 'public_key' | 'sign_count'>,
  expected: { takeChallenge: (challenge: string) => Promise<boolean>; requireUserVerification: boolean },
): Promise<number> {
  try {
    const { clientDataJSON, authenticatorData, signature } = assertion.response;
    const { verifyAuthenticationResponse } = await webauthn();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: assertion.id,
        rawId: assertion.rawId,
        type: assertion.type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: expected.takeChallenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      credential: { id: credential_id, publicKey: new Uint8Array(public_key), counter: sign_count },
      requireUserVerification: expected.requireUserVerification,
    });
    if (verified) return authenticationInfo.newCounter;
  } catch (error) {
    throw error instanceof Problem ? error : passkeyRefused(error);
  }
  throw passkeyRefused();
}
