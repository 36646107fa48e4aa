import type { RawRequest } from '../raw-request.ts';
import { CLIENT, CREDENTIALS, FORM, GOOD_BASIC, basic } from './corpus.ts';
import type { Case } from './corpus.ts';
import { introspectionOf } from './introspection.ts';

const ID = CLIENT.client_id;

function revoking(name: string, body: string, changes: Partial<RawRequest> = {}): Case {
  const request = { method: 'POST', target: '/oauth2/revoke', headers: [FORM, GOOD_BASIC], body, ...changes };
  return { name: `revocation: ${name}`, endpoint: 'revoke', request };
}

const inBody = { headers: [FORM] };

/** In this order: the later ones see what the earlier ones have revoked. */
export const revocationCases: Case[] = [
  revoking('no token', ''),
  revoking('empty token', 'token='),
  revoking('token twice', 'token={doomed}&token={doomed}'),
  revoking('token[]', 'token[]={doomed}'),
  revoking('hint twice', 'token=x&token_type_hint=a&token_type_hint=b'),
  revoking('NUL as a token', 'token=%00'),
  revoking('broken percent-encoding', 'token=%zz'),
  revoking('JSON', '{"token":"{doomed}"}', { headers: [['Content-Type', 'application/json'], GOOD_BASIC] }),
  revoking('token in the query', '', { target: '/oauth2/revoke?token={doomed}' }),
  revoking('oversized', `token=${'x'.repeat(60_000)}`),
  revoking('method GET', '', { method: 'GET', target: '/oauth2/revoke?token={doomed}' }),
  revoking('method DELETE', 'token={doomed}', { method: 'DELETE' }),
  revoking('no credentials', 'token={doomed}', inBody),
  revoking('client id alone', `token={doomed}&client_id=${ID}`, inBody),
  revoking('wrong secret', 'token={doomed}', { headers: [FORM, basic(`${ID}:wrong`)] }),
  revoking('wrong secret in the body', `token={doomed}&client_id=${ID}&client_secret=wrong`, inBody),
  revoking('unknown client', 'token={doomed}', { headers: [FORM, basic('nobody:wrong')] }),
  revoking('credentials in both places', `token={doomed}&${CREDENTIALS}`),
  revoking('malformed Basic', 'token={doomed}', { headers: [FORM, ['Authorization', 'Basic %%%%']] }),
  revoking('the token itself as Bearer', '', { headers: [FORM, ['Authorization', 'Bearer {doomed}']] }),
  introspectionOf('live after all these', 'token={doomed}'),
  revoking(
    'unknown token',
    'token=tg_0000000000000000000000_0000000000000000000000000000000000000000000000000',
  ),
  revoking('malformed token', 'token=x'),
  revoking('JWT as a token', 'token=eyJhbGciOiJub25lIn0.e30.'),
  revoking('expired token', 'token={expired}'),
  revoking('token of another client', 'token={others}'),
  introspectionOf('the other client’s token is live', 'token={others}'),
  revoking('its own token, unknown hint, unknown parameter', 'token={doomed}&token_type_hint=nonsense&x=y'),
  introspectionOf('revoked token', 'token={doomed}'),
  revoking('the same again', 'token={doomed}'),
  revoking('by body', `token={live}&${CREDENTIALS}`, inBody),
  introspectionOf('token revoked by body', 'token={live}'),
];
