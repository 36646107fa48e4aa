import type { Answer, Answers, ApiChapter } from './api-description.ts';
import {
  authorizationServerMetadataSchema,
  clientMetadataSchema,
  oauthErrorSchema,
  registeredClientSchema,
  revocationRequestSchema,
  tokenRequestSchema,
  tokenResponseSchema,
} from './oauth.ts';

/** Replaced by Tollgate's own address in a served document. */
export const EXAMPLE_ORIGIN = 'https://tollgate.example';

const error = oauthErrorSchema.meta({ id: 'OAuthError', description: 'An error (RFC 6749, section 5.2).' });

const NO_STORE = { 'Cache-Control': '`no-store`.' };
const LATER = { ...NO_STORE, 'Retry-After': 'Seconds to wait before retrying.' };

function refusal(
  code: string,
  description: string,
  headers: Readonly<Record<string, string>> = NO_STORE,
): Answer {
  return {
    description: `\`${code}\`: ${description}`,
    schema: error,
    headers,
    example: { error: code, error_description: description },
  };
}

const CHALLENGE = { ...NO_STORE, 'WWW-Authenticate': 'The `Basic` challenge.' };

/** RFC 6749, section 5.2. */
const ERRORS: Answers = {
  401: {
    name: 'oauth.invalid_client',
    ...refusal('invalid_client', 'Client authentication failed.', CHALLENGE),
  },
  413: { name: 'oauth.too_large', ...refusal('invalid_request', 'The request body is too large.') },
  429: {
    name: 'oauth.too_many',
    ...refusal('temporarily_unavailable', 'Too many attempts or tokens.', LATER),
  },
  500: { name: 'oauth.server_error', ...refusal('server_error', 'Internal error.') },
  503: {
    name: 'oauth.unavailable',
    ...refusal('temporarily_unavailable', 'Temporarily unavailable.', LATER),
  },
};

const CREDENTIALS = {
  client_id: '0b7c1f9e-5a49-4b0e-9a53-6f1c2d3e4f50',
  client_secret: 'the client secret',
};

/** auth serves it, and account has it in the public document. */
export const oauthApi = {
  title: 'OAuth',
  description:
    'Access tokens with the OAuth 2.0 client-credentials grant, and with authorization codes and refresh tokens for ' +
    'applications that act for other people.',
  operations: {
    'POST /oauth2/token': {
      operationId: 'issueAccessToken',
      summary: 'Get an access token',
      description:
        'RFC 6749: client credentials (section 4.4), authorization codes with PKCE (4.1.3) and refresh tokens (6). ' +
        "Send the application's client ID and secret in the form or in an HTTP Basic header, not " +
        'in both. Missing credentials, an unknown client, a wrong secret and a revoked application get the same response. ' +
        'A public client sends its `client_id` only.',
      caller: 'client',
      form: tokenRequestSchema,
      example: { grant_type: 'client_credentials', scope: 'api', ...CREDENTIALS },
      answers: {
        200: {
          description: 'The token.',
          schema: tokenResponseSchema,
          headers: NO_STORE,
          example: {
            access_token: 'tg_0b7c1f9e_secret',
            expires_in: 86_400,
            scope: 'api',
            token_type: 'bearer',
          },
        },
      },
      errors: {
        400: refusal(
          'invalid_request',
          'Or `invalid_grant`, `invalid_scope`, `invalid_target`, `unauthorized_client` or `unsupported_grant_type`.',
        ),
        ...ERRORS,
      },
    },
    'POST /oauth2/revoke': {
      operationId: 'revokeAccessToken',
      summary: 'Revoke an access token or a refresh token',
      description:
        'RFC 7009. The access or refresh token of an application that acts for a person disconnects it from that person. ' +
        'Returns 200 also for a token that is malformed, unknown or already revoked. A client can revoke its ' +
        "own tokens only; another client's token is `invalid_request`.",
      caller: 'client',
      form: revocationRequestSchema,
      example: { token: 'tg_0b7c1f9e_secret', ...CREDENTIALS },
      answers: {
        200: { description: 'The token is revoked.', headers: NO_STORE },
      },
      errors: { 400: refusal('invalid_request', 'The request is malformed.'), ...ERRORS },
    },
    'POST /oauth2/register': {
      operationId: 'registerClient',
      summary: 'Register a client',
      description:
        'RFC 7591, if the operator has turned it on; with `REGISTRATION=token`, send an initial access token as a Bearer ' +
        'token. The client is public. It is removed after a day in which no person has used it.',
      caller: 'anyone',
      body: clientMetadataSchema,
      example: { client_name: 'Agent', redirect_uris: ['http://127.0.0.1/callback'] },
      answers: {
        201: {
          description: 'The client.',
          schema: registeredClientSchema,
          headers: NO_STORE,
          example: {
            client_id: CREDENTIALS.client_id,
            client_id_issued_at: 1_790_000_000,
            client_name: 'Agent',
            redirect_uris: ['http://127.0.0.1/callback'],
            token_endpoint_auth_method: 'none',
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
          },
        },
      },
      errors: {
        ...ERRORS,
        400: refusal('invalid_client_metadata', 'Or `invalid_redirect_uri`.'),
        401: {
          ...refusal('invalid_token', 'The initial access token is missing or invalid.', {
            ...NO_STORE,
            'WWW-Authenticate': 'The `Bearer` challenge.',
          }),
        },
        404: refusal('invalid_request', 'Clients cannot register themselves here.'),
      },
    },
    'GET /.well-known/oauth-authorization-server': {
      operationId: 'getAuthorizationServerMetadata',
      summary: 'Get the OAuth server metadata',
      description: 'RFC 8414. `not_found` if no issuer is configured.',
      caller: 'anyone',
      answers: {
        200: {
          description: 'The metadata.',
          schema: authorizationServerMetadataSchema,
          headers: { 'Cache-Control': 'How long the metadata may be cached.' },
          example: {
            issuer: EXAMPLE_ORIGIN,
            authorization_endpoint: `${EXAMPLE_ORIGIN}/oauth2/authorize`,
            token_endpoint: `${EXAMPLE_ORIGIN}/oauth2/token`,
            revocation_endpoint: `${EXAMPLE_ORIGIN}/oauth2/revoke`,
            scopes_supported: ['api'],
            response_types_supported: ['code'],
            response_modes_supported: ['query'],
            grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
            token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
            revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
            code_challenge_methods_supported: ['S256'],
            authorization_response_iss_parameter_supported: true,
          },
        },
      },
      problems: ['not_found'],
    },
  },
} satisfies ApiChapter;
