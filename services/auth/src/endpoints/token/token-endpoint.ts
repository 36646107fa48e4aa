import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import type { CallerOf } from '../../abuse/caller.ts';
import type { AuthenticClient, AuthenticateClient } from '../../client/authenticator.ts';
import { readClientCredentials } from '../../client/credentials.ts';
import type { ReadForm } from '../../http/form-reader.ts';
import type { Answer, JsonRequest } from '../../http/json-endpoint.ts';
import { oauthErrorCode } from '../../oauth/oauth-error-handler.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import type { TokenIssuing } from '../../token/token-issuing.ts';
import { SCOPE } from '../../redis/token-record.ts';
import { GRANT_TYPE } from './grant.ts';
import type { GrantAccessToken } from './grant.ts';

/**
 * `POST /oauth2/token`: the client credentials grant (RFC 6749, section 4.4). Form fields: `grant_type` =
 * `client_credentials`, `scope` = `api`, and `client_id` and `client_secret`, or these two as HTTP Basic.
 * 200 `{access_token, expires_in, scope, token_type}` with `expires_in` in seconds. Errors are RFC 6749's (section
 * 5.2): invalid_request 400, 405 or 413; invalid_client 401; unsupported_grant_type and invalid_scope 400;
 * temporarily_unavailable 503, or 429 over a limit (docs/design/tokens.md). Grant type and scope are checked after the
 * client, so that unauthenticated callers don't learn what a client may do.
 */
export function tokenEndpoint(options: {
  readForm: ReadForm;
  callerOf: CallerOf;
  authenticate: AuthenticateClient;
  issuing: Pick<TokenIssuing, 'count'>;
  grantAccessToken: GrantAccessToken;
  /** `issued`, or an RFC 6749 error. */
  onOutcome: (outcome: string, durationMs: number) => void;
}): Answer {
  const { readForm, callerOf, authenticate, issuing, grantAccessToken, onOutcome } = options;

  async function issue({ req, res, requestId }: JsonRequest): Promise<string> {
    const read = readForm(req, res);
    const form = read instanceof Promise ? await read : read;
    const credentials = readClientCredentials(req.headers.authorization, form);
    const attempt = authenticate(credentials, () => callerOf(req, requestId));
    const refusal = refusalOf(form);
    const remembered = refusal === undefined ? attempt.remembered() : null;
    if (remembered !== null) {
      const accessToken = await grantAccessToken(remembered);
      if (accessToken !== null) return tokenResponse(accessToken, remembered);
    }
    const found = await attempt.lookUp();
    if (refusal !== undefined) {
      await issuing.count(found.client.client_id);
      throw refusal;
    }
    return tokenResponse(await grantAccessToken(found), found);
  }

  return async (exchange) => {
    const startedMs = performance.now();
    try {
      const json = await issue(exchange);
      onOutcome('issued', performance.now() - startedMs);
      return json;
    } catch (error) {
      onOutcome(oauthErrorCode(error), performance.now() - startedMs);
      throw error;
    }
  };
}

function tokenResponse(accessToken: string | null, { client }: Pick<AuthenticClient, 'client'>): string {
  if (accessToken === null) throw new Error('no token for a client that was looked up');
  // Nothing here needs escaping, and JSON.stringify would take two percent of a token's instructions.
  return `{"access_token":"${accessToken}","expires_in":${String(client.token_lifespan_sec)},"scope":"${SCOPE}","token_type":"bearer"}`;
}

function refusalOf(form: Form): Problem | OAuthError | undefined {
  const grantType = form.get('grant_type');
  if (grantType === undefined) {
    return new Problem('invalid_request', { detail: 'The required parameter grant_type is missing.' });
  }
  if (grantType !== GRANT_TYPE) return new OAuthError('unsupported_grant_type');
  return form.get('scope') === SCOPE ? undefined : new OAuthError('invalid_scope');
}
