import type { RequestHandler } from 'express';
import { parseAccessToken } from '@tollgate/access-token';
import type { Introspection } from '@tollgate/contracts/introspection';
import { Problem } from '@tollgate/problem';
import { formOf } from '../oauth/form-body.ts';
import type { TokenRecord, TokenStore } from '../token/store.ts';

type IntrospectionOutcome = 'active' | 'inactive' | 'malformed' | 'failed';

/**
 * `POST /oauth2/introspect` (RFC 7662) for the other services. Form field: `token`; `token_type_hint` is
 * ignored, there is one type. Answers 200 with the contract's introspection; whatever isn't an active token
 * is exactly `{"active":false}`. Errors are problem+json: invalid_request 400, unsupported_media_type 415,
 * payload_too_large 413, service_unavailable 503 (never "inactive" because Redis is away).
 *
 * A token that can't be one of ours costs no round trip, any other one.
 */
export function introspectionEndpoint(options: {
  tokens: Pick<TokenStore, 'find'>;
  tokenPrefix: string;
  onIntrospected: (outcome: IntrospectionOutcome) => void;
}): RequestHandler {
  const { tokens, tokenPrefix, onIntrospected } = options;

  async function introspect(token: string): Promise<Introspection> {
    const parsed = parseAccessToken(token, tokenPrefix);
    if (parsed === null) {
      onIntrospected('malformed');
      return { active: false };
    }
    const record = await tokens.find(token, parsed.applicationPart);
    onIntrospected(record === null ? 'inactive' : 'active');
    return record === null ? { active: false } : activeToken(record);
  }

  return async (req, res) => {
    const token = formOf(req).get('token');
    if (token === undefined)
      throw new Problem('invalid_request', { detail: 'The parameter token is missing.' });
    try {
      res.json(await introspect(token));
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
