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

export const tokenRequestSchema = z.object({
  grant_type: z.literal('client_credentials'),
  scope: z.literal('api'),
  ...clientFields,
});

export const tokenResponseSchema = z.object({
  access_token: z.string(),
  expires_in: z.int().min(1),
  scope: z.literal('api'),
  token_type: z.literal('bearer'),
});

/** RFC 7009, section 2.1. */
export const revocationRequestSchema = z.object({
  token: z.string(),
  token_type_hint: z.string().optional(),
  ...clientFields,
});

/** RFC 6749, section 5.2. */
export const oauthErrorSchema = z.object({
  error: z.enum([
    'invalid_request',
    'invalid_client',
    'unsupported_grant_type',
    'invalid_scope',
    'temporarily_unavailable',
    'server_error',
  ]),
  error_description: z.string(),
});

/** RFC 8414, section 2. */
export const authorizationServerMetadataSchema = z.object({
  issuer: z.url(),
  token_endpoint: z.url(),
  revocation_endpoint: z.url(),
  scopes_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  revocation_endpoint_auth_methods_supported: z.array(z.string()),
});
