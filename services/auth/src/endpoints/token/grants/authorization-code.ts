import { hash, randomUUID } from 'node:crypto';
import { accessTokenHash, newAccessToken, parseAccessToken } from '@tollgate/credentials/access-token';
import { codePrefix, newNonce, refreshTokenPrefix } from '@tollgate/credentials/grant-tokens';
import { grantAnswerSchema } from '@tollgate/contracts/grants';
import type { CodeExchange } from '@tollgate/contracts/grants';
import { actingClient, grantedOrRefused, issueDelegated } from './delegated.ts';
import type { DelegatedGrantNeeds } from './delegated.ts';
import { missing } from './grant.ts';
import type { Grant } from './grant.ts';

export const AUTHORIZATION_CODE = 'authorization_code';

/** RFC 7636, section 4.1: a shorter one could be guessed. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * RFC 6749, section 4.1.3, with PKCE (RFC 7636). Parameters: `code`, `redirect_uri`, `code_verifier`, and `resource`
 * (RFC 8707), which may repeat that of the authorization request. account decides (docs/design/authorization.md).
 */
export function createAuthorizationCodeGrant(needs: DelegatedGrantNeeds): Grant {
  const { account, tokenPrefix } = needs;
  return {
    type: AUTHORIZATION_CODE,
    check: (form) => {
      const absent = ['code', 'redirect_uri', 'code_verifier'].find((name) => !form.has(name));
      return absent === undefined ? undefined : missing(absent);
    },
    issue: async (authentic, form, callerOf) => {
      if (authentic.json !== undefined) return null;
      const acting = actingClient(authentic);
      const { client_id } = acting;
      const caller = callerOf();
      const code = form.get('code') ?? '';
      const connectionClientId = randomUUID();
      const refreshToken = newAccessToken(refreshTokenPrefix(tokenPrefix), connectionClientId);
      const resource = form.get('resource');
      const request: CodeExchange = {
        client_id,
        code_hash: accessTokenHash(code),
        redirect_uri: form.get('redirect_uri') ?? '',
        code_challenge: challengeOf(form.get('code_verifier') ?? ''),
        ...(resource !== undefined && { resource }),
        connection_client_id: connectionClientId,
        refresh_token_hash: accessTokenHash(refreshToken),
        address: caller.address,
      };
      const isCode = parseAccessToken(code, codePrefix(tokenPrefix)) !== null;
      const ask = () => account.ask('/private/grants/exchange', request, grantAnswerSchema, caller.requestId);
      const granted = await grantedOrRefused(needs, acting, caller, isCode ? ask : null);
      return issueDelegated(needs, {
        granted,
        actingClientId: client_id,
        accessToken: newAccessToken(tokenPrefix, granted.client_id),
        refreshToken,
      });
    },
  };
}

/** Of what is no verifier: one that no request has had, so that the code is used up as by a wrong verifier. */
function challengeOf(verifier: string): string {
  return VERIFIER.test(verifier) ? hash('sha256', verifier, 'base64url') : newNonce();
}
