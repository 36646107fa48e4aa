import type { RequestHandler } from 'express';
import { parseAccessToken } from '@tollgate/access-token';
import type { Introspection } from '@tollgate/contracts/introspection';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import { Problem } from '@tollgate/problem';
import { formOf } from '../oauth/form-body.ts';
import type { FindLiveToken } from '../token/live-token.ts';
import type { TokenRecord } from '../token/store.ts';

type IntrospectionOutcome = 'active' | 'inactive' | 'malformed' | 'failed';

/**
 * `POST /oauth2/introspect` (RFC 7662) for the other services. Form field: `token`; `token_type_hint` is
 * ignored, there is one type. Answers 200 with the contract's introspection; whatever isn't an active token
 * is exactly `{"active":false}`. Errors are problem+json: invalid_request 400, unsupported_media_type 415,
 * payload_too_large 413, service_unavailable 503 (never "inactive" because Redis or account is away).
 *
 * A token that can't be one of ours costs no round trip, any other one; where Redis may lack its application's
 * last revocation, account is asked as well.
 */
export function introspectionEndpoint(options: {
  findLiveToken: FindLiveToken;
  tokenPrefix: string;
  onIntrospected: (outcome: IntrospectionOutcome) => void;
}): RequestHandler {
  const { findLiveToken, tokenPrefix, onIntrospected } = options;

  async function introspect(token: string, requestId: string): Promise<Introspection> {
    const parsed = parseAccessToken(token, tokenPrefix);
    if (parsed === null) {
      onIntrospected('malformed');
      return { active: false };
    }
    const record = await findLiveToken(token, parsed.applicationPart, requestId);
    onIntrospected(record === null ? 'inactive' : 'active');
    return record === null ? { active: false } : activeToken(record);
  }

  return async (req, res) => {
    const token = formOf(req).get('token');
    if (token === undefined)
      throw new Problem('invalid_request', { detail: 'The parameter token is missing.' });
    try {
      res.json(await introspect(token, String(res.getHeader(REQUEST_ID_HEADER))));
    } catch (error) {
      onIntrospected('failed');
      throw error;
    }
  };
}

function activeToken(record: TokenRecord): Introspection {
  const { client_id, account_id, application_id, scope, iat, exp } = record;
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
  };
}
