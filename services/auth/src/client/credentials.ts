import { documentClientId, isDocumentClientId } from '@tollgate/credentials/client-id-document';
import { parseBasic } from '@tollgate/http/basic-credentials';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import { OAuthError } from '../oauth/oauth-error.ts';

/** `clientSecret` is null if the form names a client only, as public clients do (RFC 6749, section 3.2.1). */
export type ClientCredentials = { clientId: string; clientSecret: string | null };

/** RFC 6749, appendix A: printable ASCII. */
const VSCHARS = /^[\x20-\x7e]*$/;

const CLIENT_ID_MAX_LENGTH = 255;
const CLIENT_SECRET_MAX_LENGTH = 1024;

/**
 * The client's credentials from the body or from HTTP Basic (RFC 6749, section 2.3.1), never from both. A client id in
 * the body may repeat the header's. A `client_assertion` (RFC 7521) beside a secret is a second method (section 2.3).
 *
 * @throws {OAuthError} invalid_client if there are none, or none that any client can have
 * @throws {Problem} invalid_request if there are two
 */
export function readClientCredentials(authorization: string | undefined, form: Form): ClientCredentials {
  if (form.has('client_assertion') && (authorization !== undefined || form.has('client_secret'))) {
    throw refusal('The client must authenticate by one method only.');
  }
  const { id, secret } = authorization === undefined ? fromBody(form) : fromBasic(authorization, form);
  // Not by a schema, which would double the cost.
  if (!isText(id, CLIENT_ID_MAX_LENGTH) || (secret !== null && !isText(secret, CLIENT_SECRET_MAX_LENGTH))) {
    throw new OAuthError('invalid_client');
  }
  return { clientId: isDocumentClientId(id) ? documentClientId(id) : copyOf(id), clientSecret: secret };
}

function isText(text: string, maxLength: number): boolean {
  return text !== '' && text.length <= maxLength && VSCHARS.test(text);
}

/** As a cache's key, a slice of the request's text would keep all of it in memory, the secret too (V8). */
function copyOf(clientId: string): string {
  return Buffer.from(clientId, 'latin1').toString('latin1');
}

function fromBody(form: Form) {
  return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? null };
}

function fromBasic(authorization: string, form: Form) {
  if (form.has('client_secret')) {
    throw refusal('The client credentials must be in the header or in the body, not in both.');
  }
  const basic = parseBasic(authorization);
  if (basic === null) throw new OAuthError('invalid_client');
  if (basic.id !== (form.get('client_id') ?? basic.id)) {
    throw refusal('The client ids of the header and of the body differ.');
  }
  return basic;
}

function refusal(detail: string): Problem {
  return new Problem('invalid_request', { detail });
}
