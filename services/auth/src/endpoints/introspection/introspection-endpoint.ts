import { parseAccessToken } from '@tollgate/credentials/access-token';
import type { Introspection } from '@tollgate/contracts/introspection';
import type { AuthenticateService } from '@tollgate/http/private-api-credential';
import { Problem } from '@tollgate/http/problem';
import type { CountRequest } from '../../abuse/caller-limit.ts';
import type { ReadForm } from '../../http/form-reader.ts';
import type { Answer } from '../../http/json-endpoint.ts';
import type { FindLiveToken } from '../../token/live-token.ts';
import type { LiveRecord } from '../../token/store.ts';

export type IntrospectionOutcome = 'active' | 'inactive' | 'malformed' | 'failed';

/**
 * `POST /oauth2/introspect` (RFC 7662) for the other services. Form field: `token`; `token_type_hint` is ignored.
 * 200 with the contract's introspection, exactly `{"active":false}` for any token that isn't active. Errors are
 * problem+json: invalid_request 400, unsupported_media_type 415, payload_too_large 413, service_unavailable 503
 * (never "inactive" because Redis or account is unavailable).
 */
export function introspectionEndpoint(options: {
  authenticateService: AuthenticateService;
  countIntrospection: CountRequest;
  readForm: ReadForm;
  findLiveToken: FindLiveToken;
  tokenPrefix: string;
  onIntrospected: (outcome: IntrospectionOutcome, durationMs: number) => void;
}): Answer {
  const { authenticateService, countIntrospection, readForm, findLiveToken, tokenPrefix, onIntrospected } =
    options;

  return async ({ req, res, requestId }) => {
    countIntrospection(authenticateService(req.headers.authorization));
    const token = (await readForm(req, res)).get('token');
    if (token === undefined) {
      throw new Problem('invalid_request', { detail: 'The required parameter token is missing.' });
    }
    const startedMs = performance.now();
    try {
      const parsed = parseAccessToken(token, tokenPrefix);
      const record = parsed === null ? null : await findLiveToken(token, parsed.applicationPart, requestId);
      const outcome = record !== null ? 'active' : parsed !== null ? 'inactive' : 'malformed';
      onIntrospected(outcome, performance.now() - startedMs);
      const introspection: Introspection = record === null ? { active: false } : activeToken(record);
      return JSON.stringify(introspection);
    } catch (error) {
      onIntrospected('failed', performance.now() - startedMs);
      throw error;
    }
  };
}

function activeToken(record: LiveRecord): Introspection {
  const { client_id, account_id, application_id, scope, iat, exp, epoch, expiresInMs } = record;
  return {
    active: true,
    scope,
    client_id,
    sub: String(account_id),
    token_type: 'bearer',
    exp,
    iat,
    account_id,
    application_id,
    expires_in_ms: expiresInMs,
    revocation_epoch: epoch,
  };
}
