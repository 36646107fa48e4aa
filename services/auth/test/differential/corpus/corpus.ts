import type { RawRequest } from '../raw-request.ts';

/** Each side's own tokens, `{live}` and so on in a request: of CLIENT, one of them to be revoked, and of another. */
export type PlaceholderToken = 'live' | 'expired' | 'doomed' | 'others';

/** A request that both servers get. */
export type Case = { name: string; endpoint: 'token' | 'introspect' | 'revoke'; request: RawRequest };

type Header = readonly [name: string, value: string];

/** The client that both servers know, with every character that an encoding could mangle. */
export const CLIENT = {
  client_id: '6f1d8a52-0c3b-4e9a-9b57-2d1c4f8e7a90',
  client_secret: 'a-_.~+%:&= "\\z/?#@<%41>-and-some-length',
};

const ID = CLIENT.client_id;
const SECRET = encodeURIComponent(CLIENT.client_secret);

export const FORM: Header = ['Content-Type', 'application/x-www-form-urlencoded'];
export const CREDENTIALS = `client_id=${ID}&client_secret=${SECRET}`;
export const GRANT = 'grant_type=client_credentials&scope=api';
export const GOOD = `${GRANT}&${CREDENTIALS}`;

/** `text` is a string of bytes, put into base64 as it is. */
export function basic(text: string, scheme = 'Basic'): Header {
  return ['Authorization', `${scheme} ${Buffer.from(text, 'latin1').toString('base64')}`];
}

/** As RFC 6749, section 2.3.1, wants it. */
export const GOOD_BASIC = basic(`${ID}:${SECRET}`);

export function tokenCase(name: string, body: string, headers: readonly Header[] = [FORM]): Case {
  return tokenRequest(name, { body, headers });
}

export function tokenRequest(name: string, changes: Partial<RawRequest>): Case {
  const request = { method: 'POST', target: '/oauth2/token', headers: [FORM], body: GOOD, ...changes };
  return { name: `token: ${name}`, endpoint: 'token', request };
}
