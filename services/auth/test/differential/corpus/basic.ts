import { CLIENT, CREDENTIALS, FORM, GOOD, GOOD_BASIC, GRANT, basic, tokenCase } from './corpus.ts';
import type { Case } from './corpus.ts';

const ID = CLIENT.client_id;
const SECRET = encodeURIComponent(CLIENT.client_secret);

function withHeader(name: string, value: string, body = GRANT): Case {
  return tokenCase(`Basic, ${name}`, body, [FORM, ['Authorization', value]]);
}

function withPair(name: string, pair: string, body = GRANT): Case {
  return withHeader(name, basic(pair)[1], body);
}

const GOOD_BASE64 = GOOD_BASIC[1].slice('Basic '.length);

export const basicCases: Case[] = [
  withHeader('form-encoded', GOOD_BASIC[1]),
  withPair('secret with + for its space', `${ID}:${SECRET.replace('%20', '+')}`),
  withPair('client id percent-encoded', `${ID.replaceAll('-', '%2D')}:${SECRET}`),
  withPair('secret not form-encoded', `${ID}:${CLIENT.client_secret}`),
  withPair('secret encoded twice', `${ID}:${encodeURIComponent(SECRET)}`),
  withPair('colon of the secret not encoded', `${ID}:${SECRET.replace('%3A', ':')}`),
  withPair('wrong secret', `${ID}:wrong`),
  withPair('unknown client', `nobody:${SECRET}`),
  withPair('no colon', ID),
  withPair('no secret', `${ID}:`),
  withPair('no client id', `:${SECRET}`),
  withPair('only a colon', ':'),
  withPair('broken percent-encoding', `${ID}:100%`),
  withPair('NUL encoded', `${ID}:a%00b`),
  withPair('NUL as it is', `${ID}:a\0b`),
  withPair('line break behind', `${ID}:${SECRET}\n`),
  withPair('beyond ASCII, UTF-8', `${ID}:s\xc3\xa9cret`),
  withPair('no UTF-8', `${ID}:\xff\xfe`),
  withPair('no UTF-8, encoded', `${ID}:%FF%FE`),
  withHeader('scheme in lower case', `basic ${GOOD_BASE64}`),
  withHeader('scheme in capitals', `BASIC ${GOOD_BASE64}`),
  withHeader('two spaces', `Basic  ${GOOD_BASE64}`),
  withHeader('a tab', `Basic\t${GOOD_BASE64}`),
  withHeader('base64 without padding', `Basic ${GOOD_BASE64.replace(/=+$/, '')}`),
  withHeader('base64 and more', `Basic ${GOOD_BASE64} x`),
  withHeader('base64 with a foreign character', `Basic ${GOOD_BASE64.slice(0, 8)}!${GOOD_BASE64.slice(8)}`),
  withHeader('no base64', 'Basic %%%%'),
  withHeader('scheme alone', 'Basic'),
  withHeader('empty header', ''),
  withHeader('scheme Bearer', 'Bearer abc'),
  withHeader('scheme Digest', 'Digest username="x"'),
  withHeader('scheme Bearer, credentials in the body', 'Bearer abc', GOOD),
  withHeader('and the same credentials in the body', GOOD_BASIC[1], GOOD),
  withHeader(
    'and other credentials in the body',
    GOOD_BASIC[1],
    `${GRANT}&client_id=${ID}&client_secret=wrong`,
  ),
  withHeader('and an empty secret in the body', GOOD_BASIC[1], `${GRANT}&client_secret=`),
  withPair('wrong, and good credentials in the body', `${ID}:wrong`, GOOD),
  withHeader('and the same client id in the body', GOOD_BASIC[1], `${GRANT}&client_id=${ID}`),
  withHeader('and another client id in the body', GOOD_BASIC[1], `${GRANT}&client_id=nobody`),
  withHeader(
    'and a client_assertion',
    GOOD_BASIC[1],
    `${GRANT}&client_assertion=eyJhbGciOiJIUzI1NiJ9.e30.c2ln`,
  ),
  withHeader('good, no grant_type', GOOD_BASIC[1], 'scope=api'),
  withHeader('good, scope admin', GOOD_BASIC[1], 'grant_type=client_credentials&scope=admin'),
  withHeader('good, grant_type password', GOOD_BASIC[1], 'grant_type=password&username=x&password=y'),
  tokenCase('Basic, header twice', GRANT, [FORM, GOOD_BASIC, basic('other:wrong')]),
  tokenCase('Basic, in Proxy-Authorization', GRANT, [FORM, ['Proxy-Authorization', GOOD_BASIC[1]]]),
  tokenCase('credentials in headers of their names', GRANT, [
    FORM,
    ['client_id', ID],
    ['client_secret', 'x'],
  ]),
  tokenCase('Basic, without a body type', `${GRANT}&${CREDENTIALS}`, [GOOD_BASIC]),
];
