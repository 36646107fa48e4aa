import { Problem } from '@tollgate/http/problem';
import { relyingPartyIn } from './assertion.ts';
import type { PasskeyNeeds, WebauthnOptions } from './assertion.ts';
import { CHALLENGE_TIMEOUT_MS, consumeChallenge, newChallenge } from './challenges.ts';
import { passkeyRefused } from './input.ts';
import type { Registration } from './input.ts';
import { passkeyDescriptors } from './passkey-store.ts';
import type { Passkey } from './passkey-store.ts';
import type { RelyingParty } from './relying-party.ts';
import { userHandleOf } from './user-handle.ts';
import { webauthn, webauthnHelpers } from './webauthn.ts';

/** `PublicKeyCredentialCreationOptionsJSON` for the browser. @throws {Problem} passkeys_unavailable */
export async function registrationOptions(
  needs: PasskeyNeeds & {
    /** As browsers show it. */
    productName: string;
  },
  { account_id, email, name }: { account_id: number; email: string; name: string },
): Promise<WebauthnOptions> {
  const { id: rpID } = relyingPartyIn(needs);
  const known = await passkeyDescriptors(needs.query, account_id);
  const challenge = await newChallenge(needs.query, { purpose: 'register', accountId: account_id });
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: needs.productName,
    rpID,
    userName: email,
    userDisplayName: name,
    userID: new Uint8Array(userHandleOf(account_id)),
    challenge: new Uint8Array(challenge),
    timeout: CHALLENGE_TIMEOUT_MS,
    // Which model of authenticator it is doesn't matter here.
    attestationType: 'none',
    excludeCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
  return { ...options };
}

/** Verifies a response and consumes its challenge. @throws {Problem} invalid_request; passkeys_unavailable */
export async function verifyRegistration(
  needs: PasskeyNeeds,
  registration: Registration,
  accountId: number,
): Promise<Omit<Passkey, 'passkey_id'>> {
  const checked = await checkRegistration(relyingPartyIn(needs), registration, {
    takeChallenge: (challenge) =>
      consumeChallenge(needs.query, challenge, { purpose: 'register', accountId }),
    requireUserVerification: false,
  });
  return { account_id: accountId, ...checked };
}

/** What is kept of a passkey, a customer's or an operator's. @throws {Problem} invalid_request */
export async function checkRegistration(
  relyingParty: RelyingParty,
  registration: Registration,
  expected: { takeChallenge: (challenge: string) => Promise<boolean>; requireUserVerification: boolean },
): Promise<Omit<Passkey, 'passkey_id' | 'account_id'>> {
  try {
    const { clientDataJSON, attestationObject, transports = [] } = registration.response;
    await assertNoCertificates(attestationObject);
    const { verifyRegistrationResponse } = await webauthn();
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: registration.id,
        rawId: registration.rawId,
        type: registration.type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: expected.takeChallenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: expected.requireUserVerification,
    });
    if (registrationInfo === undefined) throw passkeyRefused();
    const { id, publicKey, counter } = registrationInfo.credential;
    return {
      credential_id: id,
      public_key: Buffer.from(publicKey),
      sign_count: counter,
      transports,
    };
  } catch (error) {
    throw error instanceof Problem ? error : passkeyRefused(error);
  }
}

/**
 * Browsers remove certificates where no attestation was asked for. Verifying one fetches the revocation list whose URL
 * it names, so a caller could have this service fetch any URL.
 */
async function assertNoCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject, isoBase64URL } = await webauthnHelpers();
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  const hasCertificates = decoded.get('attStmt').get('x5c') !== undefined;
  if ((format !== 'none' && format !== 'packed') || hasCertificates) {
    throw new Error(`unexpected attestation of format ${format}`);
  }
}
