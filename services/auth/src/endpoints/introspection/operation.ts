import { z } from 'zod';
import { parseAccessToken } from '@tollgate/credentials/access-token';
import { introspectionSchema } from '@tollgate/contracts/introspection';
import type { Introspection } from '@tollgate/contracts/introspection';
import { Problem } from '@tollgate/http/problem';
import { formOperation } from '@tollgate/operation';
import type { FormCall } from '@tollgate/operation';
import type { CountRequest } from '../../abuse/caller-limit.ts';
import { service } from '../../http/callers.ts';
import type { FindLiveToken } from '../../token/live-token.ts';
import type { LiveRecord } from '../../token/store.ts';

export type IntrospectionOutcome = 'active' | 'inactive' | 'malformed' | 'failed';

type IntrospectionNeeds = {
  countIntrospection: CountRequest;
  findLiveToken: FindLiveToken;
  tokenPrefix: string;
  onIntrospected: (outcome: IntrospectionOutcome, durationMs: number) => void;
};

export const introspectAccessToken = formOperation('POST /oauth2/introspect', {
  operationId: 'introspectAccessToken',
  summary: 'Introspect an access token',
  description:
    'RFC 7662. Any token that is not active gets exactly `{"active":false}`. If Redis or account is unavailable, the ' +
    'response is 503, never `{"active":false}`.',
  caller: service,
  form: z.object({
    token: z.string(),
    token_type_hint: z.string().optional().meta({ description: 'Ignored.' }),
  }),
  example: { token: 'tg_0b7c1f9e_secret' },
  answers: {
    200: {
      description: 'The introspection.',
      schema: introspectionSchema,
      headers: { 'Cache-Control': '`no-store`.' },
      example: { active: false },
    },
  },
  problems: ['too_many_requests'],
  guard: ({ countIntrospection }: IntrospectionNeeds, caller) => {
    countIntrospection(caller);
  },
  handle: introspect,
});

async function introspect(
  { findLiveToken, tokenPrefix, onIntrospected }: IntrospectionNeeds,
  { form, requestId }: FormCall<string>,
): Promise<Introspection> {
  const token = form.get('token');
  if (token === undefined) {
    throw new Problem('invalid_request', { detail: 'The required parameter token is missing.' });
  }
  const startedMs = performance.now();
  try {
    const parsed = parseAccessToken(token, tokenPrefix);
    const record = parsed === null ? null : await findLiveToken(token, parsed.applicationPart, requestId);
    const outcome = record !== null ? 'active' : parsed !== null ? 'inactive' : 'malformed';
    onIntrospected(outcome, performance.now() - startedMs);
    return record === null ? { active: false } : activeToken(record);
  } catch (error) {
    onIntrospected('failed', performance.now() - startedMs);
    throw error;
  }
}

function activeToken(record: LiveRecord): Introspection {
  const { client_id, account_id, application_id, scope, iat, exp, epoch, expiresInMs, via, aud } = record;
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
    ...(via !== undefined && { via }),
    ...(aud !== undefined && { aud }),
  };
}
