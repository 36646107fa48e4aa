import { hash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { registrationAnswerSchema } from '@tollgate/contracts/client-registration';
import type { ClientRegistration } from '@tollgate/contracts/client-registration';
import { oauthApi } from '@tollgate/contracts/oauth-api';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import { Reply, anyone, operation } from '@tollgate/operation';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';
import type { CallerOf } from '../../abuse/caller.ts';
import type { FailedAttempts } from '../../abuse/failed-attempts.ts';
import { tooManyRequests } from '../../abuse/too-many-requests.ts';
import { ANY_ORIGIN } from '../../oauth/any-origin.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { AUTHORIZATION_CODE } from '../token/grants/authorization-code.ts';
import { REFRESH_TOKEN } from '../token/grants/refresh-token.ts';

export type RegistrationMode = 'off' | 'token' | 'open';

type RegistrationNeeds = {
  callerOf: CallerOf;
  account: Pick<PrivateApi, 'ask'>;
  failedAttempts: Pick<FailedAttempts, 'count'>;
  registration: { mode: RegistrationMode; tokens: readonly string[] };
};

/**
 * What we read of a client's metadata; the rest we don't have, and RFC 7591, section 3.2.1, lets us leave it out. A
 * client that asks for a secret is told that it has none.
 */
const metadataSchema = z.object({
  redirect_uris: z.array(z.string().max(2_000)).max(100),
  client_name: z.string().max(1_000).optional(),
  token_endpoint_auth_method: z.enum(['none', 'client_secret_basic', 'client_secret_post']).optional(),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes(AUTHORIZATION_CODE))
    .optional(),
  response_types: z
    .array(z.string())
    .refine((types) => types.includes('code'))
    .optional(),
});

/** A registration has no client yet: wrong initial access tokens count for their address. */
const FAILED_AS = 'registration';

export const registerClient = operation('POST /oauth2/register', {
  ...oauthApi.operations['POST /oauth2/register'],
  caller: anyone,
  handle: async (
    { callerOf, account, failedAttempts, registration }: RegistrationNeeds,
    { body, req, res },
  ) => {
    const { authorization } = req.headers;
    if (authorization === undefined) res.set(ANY_ORIGIN);
    const { mode, tokens } = registration;
    if (mode === 'off')
      throw new Problem('not_found', { detail: 'Clients cannot register themselves here.' });
    const requestId = String(res.getHeader(REQUEST_ID_HEADER));
    const { address, addressGroup } = callerOf(req, requestId);
    if (mode === 'token' && !isInitialToken(authorization, tokens)) {
      await failedAttempts.count(FAILED_AS, addressGroup);
      throw new OAuthError('invalid_token');
    }
    const said = metadataSchema.safeParse(body);
    if (!said.success) {
      const field = String(said.error.issues[0]?.path[0] ?? 'The metadata');
      throw new OAuthError('invalid_client_metadata', `${field} is invalid.`);
    }
    const { redirect_uris, client_name } = said.data;
    const request: ClientRegistration = {
      redirect_uris,
      ...(client_name !== undefined && { client_name }),
      is_trusted: mode === 'token',
      address,
    };
    const answer = await account.ask(
      '/private/client-registrations',
      request,
      registrationAnswerSchema,
      requestId,
    );
    if (answer.outcome === 'too_many') throw tooManyRequests(answer.retry_after_sec * 1_000);
    if (answer.outcome !== 'registered') throw new OAuthError(answer.outcome, answer.description);
    return new Reply(201, {
      client_id: answer.client_id,
      client_id_issued_at: answer.issued_at,
      client_name: answer.client_name,
      redirect_uris: answer.redirect_uris,
      token_endpoint_auth_method: 'none' as const,
      grant_types: [AUTHORIZATION_CODE, REFRESH_TOKEN],
      response_types: ['code'],
    });
  },
});

function isInitialToken(authorization: string | undefined, tokens: readonly string[]): boolean {
  const presented = /^Bearer ([\x21-\x7e]{1,1024})$/i.exec(authorization ?? '')?.[1];
  if (presented === undefined) return false;
  const digest = hash('sha256', presented, 'buffer');
  // Compares with all of them, so that the time tells nothing.
  return tokens.filter((token) => timingSafeEqual(digest, hash('sha256', token, 'buffer'))).length > 0;
}
