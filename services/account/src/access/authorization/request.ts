import type { AuthorizationFault } from '@tollgate/console/paths';
import { DATA_SCOPE, MCP_SCOPE, MCP_WRITE_SCOPE, OFFLINE_ACCESS } from '@tollgate/contracts/resource-servers';
import type { ResourceServer } from '@tollgate/contracts/resource-servers';
import { codeChallengeSchema } from '@tollgate/contracts/grants';
import { isRegistered } from '../redirect-uris/redirect-uri.ts';
import type { AuthorizationRequest } from './store.ts';

/** RFC 6749, section 4.1.2.1; `invalid_target` is of RFC 8707. */
export type AuthorizationError =
  'access_denied' | 'invalid_request' | 'invalid_scope' | 'invalid_target' | 'unsupported_response_type';

/**
 * What an application's request asks for. `page`: it is unknown where the answer may go, so only the person is told.
 * `redirect`: the application is told.
 */
export type ReadRequest =
  | { ok: true; request: AuthorizationRequest }
  | { ok: false; page: AuthorizationFault }
  | { ok: false; redirect: AuthorizationError; description: string; to: Answered };

/** Where an answer goes. */
export type Answered = { redirect_uri: string; state: string | null };

type AskingApplication = { application_id: number; redirect_uris: string[] };

/** RFC 6749, appendix A.5: printable ASCII. */
const STATE = /^[\x20-\x7e]{1,1000}$/;

/** What each resource server's tokens may do, in the order in which it is kept. */
const SCOPES: Readonly<Record<ResourceServer, readonly string[]>> = {
  data: [DATA_SCOPE],
  mcp: [MCP_SCOPE, MCP_WRITE_SCOPE],
  both: [DATA_SCOPE, MCP_SCOPE, MCP_WRITE_SCOPE],
};

/**
 * Validates an authorization request in RFC 9700's order: client and redirect URI, and only then what is answered by a
 * redirect (docs/design/authorization.md).
 */
export async function readAuthorizationRequest(
  given: URLSearchParams,
  {
    findApplication,
    resources,
  }: {
    findApplication: (clientId: string) => Promise<AskingApplication | AuthorizationFault>;
    /** The resource servers that a token can be asked for. */
    resources: ReadonlyMap<string, ResourceServer>;
  },
): Promise<ReadRequest> {
  const names = [...given.keys()];
  // Two parties that read different ones of two values agree on nothing (RFC 6749, section 3.1).
  if (new Set(names).size !== names.length) return { ok: false, page: 'malformed' };
  const application = await findApplication(given.get('client_id') ?? '');
  if (typeof application === 'string') return { ok: false, page: application };
  const redirect_uri = given.get('redirect_uri') ?? '';
  if (!isRegistered(redirect_uri, application.redirect_uris)) return { ok: false, page: 'redirect_uri' };

  const state = given.get('state');
  const refuse = (redirect: AuthorizationError, description: string): ReadRequest => ({
    ok: false,
    redirect,
    description,
    // A state that isn't one is never sent on.
    to: { redirect_uri, state: state !== null && STATE.test(state) ? state : null },
  });
  if (state !== null && !STATE.test(state)) {
    return refuse('invalid_request', 'state must be 1 to 1,000 printable ASCII characters.');
  }
  const responseType = given.get('response_type');
  if (responseType === null) return refuse('invalid_request', 'response_type is missing. Send code.');
  if (responseType !== 'code') return refuse('unsupported_response_type', 'response_type must be code.');
  if ((given.get('response_mode') ?? 'query') !== 'query') {
    return refuse('invalid_request', 'response_mode must be query.');
  }
  if (given.has('request') || given.has('request_uri')) {
    return refuse('invalid_request', 'Request objects are not supported.');
  }
  const challenge = codeChallengeSchema.safeParse(given.get('code_challenge'));
  if (!challenge.success) {
    return refuse('invalid_request', 'code_challenge must be 43 characters of base64url (RFC 7636).');
  }
  // Without the method RFC 7636 means plain, which a reader of the request can answer.
  if (given.get('code_challenge_method') !== 'S256') {
    return refuse('invalid_request', 'code_challenge_method must be S256.');
  }
  const resource = given.get('resource');
  const server = resource === null ? 'data' : resources.get(resource);
  if (server === undefined) {
    return refuse('invalid_target', 'resource must be the address of the data API or of MCP.');
  }
  const scope = scopeFor(server, given.get('scope'));
  if (scope === undefined) {
    return refuse('invalid_scope', `scope must be of ${SCOPES[server].join(' ')} for this resource.`);
  }
  if (given.get('prompt') === 'none') {
    return refuse('access_denied', 'prompt=none is not supported: a person has to consent.');
  }
  const { application_id } = application;
  return {
    ok: true,
    request: { application_id, redirect_uri, state, scope, resource, code_challenge: challenge.data },
  };
}

/** What is granted of it; undefined if a word is unknown there, or what it begins with is missing. */
function scopeFor(server: ResourceServer, asked: string | null): string | undefined {
  const words = new Set((asked ?? (server === 'mcp' ? MCP_SCOPE : '')).split(' '));
  words.delete(OFFLINE_ACCESS);
  const known = SCOPES[server];
  if (words.size === 0 || ![...words].every((word) => known.includes(word))) return undefined;
  if (words.has(MCP_WRITE_SCOPE) && !words.has(MCP_SCOPE)) return undefined;
  return known.filter((word) => words.has(word)).join(' ');
}

/**
 * The address with the answer in its query (RFC 6749, section 4.1.2). What is registered stays as it is, and `iss` tells
 * an application with several servers which one answered (RFC 9207).
 */
export function answerAddress(
  { redirect_uri, state }: Answered,
  issuer: string,
  answer: { code: string } | { error: AuthorizationError; error_description: string },
): string {
  const fields = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss: issuer });
  return `${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}${fields.toString()}`;
}
