import { parseBasic } from '@tollgate/form-encoding/basic';
import type { Form } from '@tollgate/form-encoding/form';
import { Problem } from '@tollgate/problem';

export type ClientCredentials = { clientId: string; clientSecret: string };

/** RFC 6749, appendix A: printable ASCII. */
const VSCHARS = /^[\x20-\x7e]*$/;

const CLIENT_ID_MAX_LENGTH = 255;
const CLIENT_SECRET_MAX_LENGTH = 1024;

/**
 * The client's credentials from the body or from HTTP Basic (RFC 6749, section 2.3.1), never from both.
 * A client id in the body may repeat the header's. A body without a secret has the empty one, which no client
 * has: it fails like any wrong secret. So does one with a `client_assertion` (RFC 7521), a method that isn't
 * supported; beside a secret it is refused as a second method (RFC 6749, section 2.3).
 *
 * @throws {Problem} invalid_request
 */
export function readClientCredentials(authorization: string | undefined, form: Form): ClientCredentials {
  if (form.has('client_assertion') && (authorization !== undefined || form.has('client_secret'))) {
    throw refusal('The client must authenticate by one method only.');
  }
  const { client_id, client_secret } =
    authorization === undefined ? fromBody(form) : fromBasic(authorization, form);
  // By hand: a schema would cost as much as all the rest of this.
  if (!isText(client_id, CLIENT_ID_MAX_LENGTH) || !isText(client_secret, CLIENT_SECRET_MAX_LENGTH)) {
    throw refusal('The client credentials are malformed or too long.');
  }
  return { clientId: copyOf(client_id), clientSecret: client_secret };
}

function isText(text: string, maxLength: number): boolean {
  return text.length <= maxLength && VSCHARS.test(text);
}

/**
 * The id is kept, as a cache's key; as a part of the request's text it would keep all of that in memory, the
 * secret too (V8's sliced strings).
 */
function copyOf(clientId: string): string {
  return Buffer.from(clientId, 'latin1').toString('latin1');
}

function fromBody(form: Form) {
  const client_id = form.get('client_id');
  if (client_id === undefined) throw refusal('The parameter client_id is missing.');
  return { client_id, client_secret: form.get('client_secret') ?? '' };
}

function fromBasic(authorization: string, form: Form) {
  if (form.has('client_secret')) {
    throw refusal('The client credentials must be in the header or in the body, not in both.');
  }
  const basic = parseBasic(authorization);
  if (basic === null || basic.id === '' || basic.secret === '') {
    throw refusal('The Authorization header must be Basic with a form-encoded client id and secret.');
  }
  if (basic.id !== (form.get('client_id') ?? basic.id)) {
    throw refusal('The client ids of the header and of the body differ.');
  }
  return { client_id: basic.id, client_secret: basic.secret };
}

function refusal(detail: string): Problem {
  return new Problem('invalid_request', { detail });
}
