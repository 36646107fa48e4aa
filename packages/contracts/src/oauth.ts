import { z } from 'zod';

/** auth parses forms by hand, for speed and RFC 6749's errors; a fuzz test compares it with these schemas. */

/** RFC 6749, appendix A: printable ASCII. */
const vschars = (maxCharacters: number) =>
  z
    .string()
    .regex(/^[\x20-\x7e]*$/)
    .max(maxCharacters);

/** In the form unless they are in the Authorization header. */
const clientFields = {
  client_id: vschars(255).optional(),
  client_secret: vschars(1_024).optional(),
};

const resource = z
  .string()
  .optional()
  .meta({ description: 'The address of the data API, or of MCP (RFC 8707).' });

export const tokenRequestSchema = z.discriminatedUnion('grant_type', [
  z.object({ grant_type: z.literal('client_credentials'), scope: z.literal('api'), ...clientFields }),
  z.object({
    grant_type: z.literal('authorization_code'),
    code: z.string(),
    redirect_uri: z.string().meta({ description: 'As in the authorization request.' }),
    code_verifier: z.string().meta({ description: 'RFC 7636.' }),
    resource,
    ...clientFields,
  }),
  z.object({
    grant_type: z.literal('refresh_token'),
    refresh_token: z.string(),
    scope: z.string().optional().meta({ description: 'A part of what was granted.' }),
    resource,
    ...clientFields,
  }),
]);

export const tokenResponseSchema = z.object({
  access_token: z.string(),
  expires_in: z.int().min(1),
  scope: z.string(),
  token_type: z.literal('bearer'),
  refresh_token: z
    .string()
    .optional()
    .meta({ description: 'Of codes and refresh tokens; it replaces the one that was presented.' }),
});

/** RFC 7009, section 2.1. */
export const revocationRequestSchema = z.object({
  token: z.string(),
  token_type_hint: z.string().optional(),
  ...clientFields,
});

/** RFC 7591, section 2: what is read of it. auth checks it by hand, because RFC 7591 has an error for each kind of fault. */
export const clientMetadataSchema = z.looseObject({
  redirect_uris: z
    .unknown()
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string' },
      description: '1 to 10: `https`, `http` to a loopback address, or a scheme with a dot.',
    }),
  client_name: z.unknown().optional().meta({ type: 'string', description: 'At most 80 characters.' }),
  token_endpoint_auth_method: z
    .unknown()
    .optional()
    .meta({ type: 'string', description: 'Whatever a client asks for, it gets no secret: `none`.' }),
  grant_types: z
    .unknown()
    .optional()
    .meta({ type: 'array', items: { type: 'string' } }),
  response_types: z
    .unknown()
    .optional()
    .meta({ type: 'array', items: { type: 'string' } }),
});

/** RFC 7591, section 3.2.1. */
export const registeredClientSchema = z.object({
  client_id: z.uuid(),
  client_id_issued_at: z.int().meta({ description: 'Unix seconds.' }),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  token_endpoint_auth_method: z.literal('none'),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
});

/** RFC 6749, section 5.2: the statuses and meanings of each code, in Markdown (docs/errors.md). */
export const OAUTH_ERRORS = {
  invalid_request: [
    { status: '400, 405, 413', meaning: 'The request is malformed.' },
    { status: '404', meaning: "Clients can't register themselves here." },
  ],
  invalid_client: [{ status: '401', meaning: 'Client authentication failed.' }],
  invalid_grant: [
    {
      status: '400',
      meaning: 'The code or refresh token is invalid, expired, used, or was issued to another client.',
    },
  ],
  invalid_target: [{ status: '400', meaning: 'The resource is unknown, or was not granted.' }],
  invalid_token: [
    { status: '401', meaning: 'The initial access token of a registration is missing or wrong.' },
  ],
  invalid_redirect_uri: [
    { status: '400', meaning: 'A redirect URI that a client registers is not allowed.' },
  ],
  invalid_client_metadata: [{ status: '400', meaning: 'What a client registers is malformed.' }],
  unauthorized_client: [{ status: '400', meaning: "The application's type doesn't allow the grant type." }],
  unsupported_grant_type: [{ status: '400', meaning: 'The grant type is unknown.' }],
  invalid_scope: [{ status: '400', meaning: "The scope is missing, unknown or wasn't granted." }],
  temporarily_unavailable: [
    { status: '503', meaning: 'A store is unavailable; retry after `Retry-After` seconds.' },
    {
      status: '429',
      meaning: 'Too many failed attempts or token requests; retry after `Retry-After` seconds.',
    },
  ],
  server_error: [{ status: '500', meaning: 'A bug in this service.' }],
} as const;

export const oauthErrorSchema = z.object({
  error: z.enum(Object.keys(OAUTH_ERRORS) as (keyof typeof OAUTH_ERRORS)[]),
  error_description: z.string(),
});

/** RFC 8414, section 2. */
export const authorizationServerMetadataSchema = z.object({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  registration_endpoint: z.url().optional().meta({ description: 'Only if clients may register themselves.' }),
  client_id_metadata_document_supported: z
    .boolean()
    .optional()
    .meta({ description: 'Only if a client ID can be the address of a document.' }),
  revocation_endpoint: z.url(),
  scopes_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  authorization_response_iss_parameter_supported: z.boolean(),
});
