import { hashOfToken, newSecretToken } from '../../identity/secret-token.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { SignInSecrets } from '../../oidc/relying-party.ts';
import { SIGN_IN_LIFETIME_SEC, newSignInSecrets } from '../../oidc/secrets.ts';

/** Sign-ins that a browser has begun at the identity provider. */

export type BegunSignIn = {
  /** For the browser's cookie, which alone can finish it. */
  browser: string;
  secrets: SignInSecrets;
  expires_at: Date;
};

export async function insertSignIn(query: Query, issuer: string): Promise<BegunSignIn> {
  const browser = newSecretToken();
  const secrets = newSignInSecrets();
  const rows = await query<{ expires_at: Date }>(
    `INSERT INTO operator_oidc_sign_ins (browser_hash, issuer, state, nonce, code_verifier, expires_at)
     VALUES (:browserHash, :issuer, :state, :nonce, :code_verifier,
       now() + ${String(SIGN_IN_LIFETIME_SEC)} * interval '1 second')
     RETURNING expires_at`,
    { browserHash: hashOfToken(browser), issuer, ...secrets },
  );
  return { browser, secrets, ...singleRow(rows) };
}

/** Each is good for one answer, also for one that turns out wrong: `query` isn't a transaction's. */
export async function takeSignIn(
  query: Query,
  browser: string,
  issuer: string,
): Promise<SignInSecrets | undefined> {
  const rows = await query<SignInSecrets>(
    `DELETE FROM operator_oidc_sign_ins
     WHERE browser_hash = :browserHash AND issuer = :issuer AND expires_at > now()
     RETURNING state, nonce, code_verifier`,
    { browserHash: hashOfToken(browser), issuer },
  );
  return rows[0];
}
