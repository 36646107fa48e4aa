import type { ZodOpenApiSecuritySchemeObject } from 'zod-openapi';
import type { Method, Operation } from '../http/operation.ts';

/** How callers show who they are. */
export function securitySchemes({ tokenUrl, sessionCookie }: { tokenUrl: string; sessionCookie: string }) {
  return {
    accessToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'An access token, made by hand or by `POST /oauth2/token`.',
    },
    clientCredentials: {
      type: 'oauth2',
      description: "The same, got with an application's client id and secret.",
      flows: { clientCredentials: { tokenUrl, scopes: { api: 'All of it.' } } },
    },
    clientSecret: {
      type: 'http',
      scheme: 'basic',
      description:
        "An application's client id and secret, each form-encoded (RFC 6749, section 2.3.1). " +
        'They can be in the form instead, as `client_id` and `client_secret`, never in both places.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description:
        'The cookie that `POST /api/console/session` sets: `__Host-tollgate_session` where Tollgate is reached by ' +
        'TLS, else `tollgate_session`.',
    },
    csrfToken: {
      type: 'apiKey',
      in: 'header',
      name: 'X-CSRF-Token',
      description:
        'The `csrf_token` of `GET /api/console/session`, with every unsafe request of the session.',
    },
  } as const satisfies Record<string, ZodOpenApiSecuritySchemeObject>;
}

type SecurityRequirement = Partial<Record<keyof ReturnType<typeof securitySchemes>, string[]>>;

/** One of these is needed; an empty one: nothing is. */
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
