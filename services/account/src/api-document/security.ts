import type { ZodOpenApiSecuritySchemeObject } from 'zod-openapi';
import type { Method, Operation } from '../http/operation.ts';

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
    clientSecret: {
      type: 'http',
      scheme: 'basic',
      description:
        "An application's client ID and secret, each form-encoded (RFC 6749, section 2.3.1). " +
        'Alternatively, send them in the form as `client_id` and `client_secret`, but not in both places.',
    },
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

type SecurityRequirement = Partial<Record<keyof ReturnType<typeof securitySchemes>, string[]>>;

/** Alternatives; an empty one requires nothing. */
export function securityOf(caller: Operation['caller'], method: Method): SecurityRequirement[] {
  switch (caller) {
    case 'anyone':
      return [];
    case 'session':
      return [method === 'GET' ? { session: [] } : { session: [], csrfToken: [] }];
    case 'token':
      return [{ accessToken: [] }, { clientCredentials: ['api'] }];
    case 'client':
      return [{ clientSecret: [] }, {}];
  }
}
