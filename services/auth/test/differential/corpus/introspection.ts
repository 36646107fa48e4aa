import { serviceCredential } from '@tollgate/testbed/service-process';
import { FORM, basic } from './corpus.ts';
import type { Case } from './corpus.ts';
import type { RawRequest } from '../raw-request.ts';

/** The asking service, which is a client of the reference provider. */
const { id, secret } = serviceCredential;
const SERVICE = basic(`${id}:${secret}`);

export function introspectionOf(name: string, body: string, changes: Partial<RawRequest> = {}): Case {
  const request = {
    method: 'POST',
    target: '/oauth2/introspect',
    headers: [FORM, SERVICE],
    body,
    ...changes,
  };
  return { name: `introspection: ${name}`, endpoint: 'introspect', request };
}

function askingAs(name: string, headers: RawRequest['headers'], body = 'token={live}'): Case {
  return introspectionOf(name, body, { headers: [FORM, ...headers] });
}

export const introspectionCases: Case[] = [
  introspectionOf('live token', 'token={live}'),
  introspectionOf('live token, hint access_token', 'token={live}&token_type_hint=access_token'),
  introspectionOf('live token, hint refresh_token', 'token={live}&token_type_hint=refresh_token'),
  introspectionOf('live token, hint nobody knows', 'token={live}&token_type_hint=nonsense'),
  introspectionOf('live token, unknown parameter', 'token={live}&x=y'),
  introspectionOf('expired token', 'token={expired}'),
  introspectionOf(
    'unknown token',
    'token=tg_0000000000000000000000_0000000000000000000000000000000000000000000000000',
  ),
  introspectionOf('live token and a character', 'token={live}x'),
  introspectionOf('live token and a space', 'token={live}%20'),
  introspectionOf('live token with Bearer in front', 'token=Bearer+{live}'),
  introspectionOf('JWT as a token', 'token=eyJhbGciOiJub25lIn0.e30.'),
  introspectionOf('one character as a token', 'token=x'),
  introspectionOf('NUL as a token', 'token=%00'),
  introspectionOf('token beyond ASCII', 'token=t%C3%B6ken'),
  introspectionOf('token that is not UTF-8', 'token=\xff'),
  introspectionOf('broken percent-encoding', 'token=%zz'),
  introspectionOf('no token', ''),
  introspectionOf('empty token', 'token='),
  introspectionOf('token twice', 'token={live}&token={live}'),
  introspectionOf('token[]', 'token[]={live}'),
  introspectionOf('hint twice', 'token={live}&token_type_hint=a&token_type_hint=b'),
  introspectionOf('token in the query', '', { target: '/oauth2/introspect?token={live}' }),
  introspectionOf('oversized', `token=${'x'.repeat(60_000)}`),
  introspectionOf('JSON', '{"token":"{live}"}', { headers: [['Content-Type', 'application/json'], SERVICE] }),
  introspectionOf('method GET', '', { method: 'GET', target: '/oauth2/introspect?token={live}' }),
  introspectionOf('method PUT', 'token={live}', { method: 'PUT' }),
  askingAs('no credential', []),
  askingAs('wrong secret', [basic(`${id}:wrong`)]),
  askingAs('unknown service', [basic(`nobody:${secret}`)]),
  askingAs('malformed Basic', [['Authorization', 'Basic %%%%']]),
  askingAs('Basic without a secret', [basic(`${id}:`)]),
  askingAs('the token itself as Bearer', [['Authorization', 'Bearer {live}']]),
  askingAs('credential in the body', [], `token={live}&client_id=${id}&client_secret=${secret}`),
  askingAs('wrong secret, no token', [basic(`${id}:wrong`)], ''),
  askingAs('scheme in lower case', [basic(`${id}:${secret}`, 'basic')]),
];
