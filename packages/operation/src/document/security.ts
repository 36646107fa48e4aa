import type { ZodOpenApiSecuritySchemeObject } from 'zod-openapi';
import type { Description, Method } from '@tollgate/contracts/api-description';

const clientSecret = {
  type: 'http',
  scheme: 'basic',
  description:
    "An application's client ID and secret, each form-encoded (RFC 6749, section 2.3.1). " +
    'Alternatively, send them in the form as `client_id` and `client_secret`, but not in both places.',
} as const satisfies ZodOpenApiSecuritySchemeObject;

/** Of the public API. */
export function securitySchemes({ tokenUrl, sessionCookie }: { tokenUrl: string; sessionCookie: string }) {
  return {
    accessToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'An access token: manual, temporary, or from `POST /oauth2/token`.',
    },
    clientCredentials: {
      type: 'oauth2',
      description: "An access token, obtained with an application's client ID and secret.",
      flows: { clientCredentials: { tokenUrl, scopes: { api: 'The whole API.' } } },
    },
    clientSecret,
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description:
        'The cookie that `POST /api/console/session` sets: `__Host-tollgate_session` over TLS, otherwise ' +
        '`tollgate_session`.',
    },
    csrfToken: {
      type: 'apiKey',
      in: 'header',
      name: 'X-CSRF-Token',
      description:
        'The `csrf_token` from `GET /api/console/session`. Required for every session request other than GET.',
    },
  } as const satisfies Record<string, ZodOpenApiSecuritySchemeObject>;
}

/** Of the operators' API. */
export const OPERATOR_SECURITY = {
  operator: {
    type: 'http',
    scheme: 'basic',
    description:
      'A credential of `OPERATOR_CREDENTIALS`, on the private listener. Operations list the roles of which one is ' +
      'needed; `admin` always suffices, and `viewer` means every role.',
  },
} as const satisfies Record<string, ZodOpenApiSecuritySchemeObject>;

/** Of the operators' console. */
export const OPERATOR_CONSOLE_SECURITY = {
  operator: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-tollgate_operator',
    description:
      "An operator's session: `__Host-tollgate_operator` over TLS, `tollgate_operator` on loopback without it. " +
      'Operations list the roles of which one is needed; `admin` always suffices, and `viewer` means every role.',
  },
} as const satisfies Record<string, ZodOpenApiSecuritySchemeObject>;

const service = {
  type: 'http',
  scheme: 'basic',
  description: 'A credential of `SERVICE_CREDENTIALS`, on the private listener.',
} as const satisfies ZodOpenApiSecuritySchemeObject;

/** Of auth. */
export const AUTH_SECURITY = { clientSecret, service };

/** Of the services' API. */
export const SERVICES_SECURITY = {
  service,
  reporter: {
    type: 'http',
    scheme: 'basic',
    description: 'A credential of `USAGE_REPORTER_CREDENTIALS`, on the private listener.',
  },
} as const satisfies Record<string, ZodOpenApiSecuritySchemeObject>;

type SecurityRequirement = Partial<
  Record<
    | keyof ReturnType<typeof securitySchemes>
    | keyof typeof OPERATOR_SECURITY
    | keyof typeof SERVICES_SECURITY,
    string[]
  >
>;

/** Alternatives; an empty one requires nothing. Roles are stated as OpenAPI 3.1 allows (Security Requirement Object). */
export function securityOf(
  { caller, roles = [] }: Pick<Description, 'caller' | 'roles'>,
  method: Method,
): SecurityRequirement[] {
  switch (caller) {
    case 'anyone':
      return [];
    case 'session':
    case 'closing-session':
      return [method === 'GET' ? { session: [] } : { session: [], csrfToken: [] }];
    case 'token':
      return [{ accessToken: [] }, { clientCredentials: ['api'] }];
    case 'client':
      return [{ clientSecret: [] }, {}];
    case 'operator-session':
    case 'operator':
      return [{ operator: [...roles] }];
    case 'service':
    case 'reporter':
      return [{ [caller]: [] }];
  }
}
