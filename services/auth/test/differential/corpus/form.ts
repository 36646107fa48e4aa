import { CLIENT, CREDENTIALS, GOOD, GRANT, tokenCase } from './corpus.ts';
import type { Case } from './corpus.ts';

const ID = CLIENT.client_id;
const SECRET = encodeURIComponent(CLIENT.client_secret);
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

/** A well-formed client id that doesn't exist. */
const NOBODY = '00000000-0000-4000-8000-000000000000';

const credentials: Case[] = [
  tokenCase('as the specification shows it', GOOD),
  tokenCase(
    'fields in another order',
    `scope=api&client_secret=${SECRET}&client_id=${ID}&grant_type=client_credentials`,
  ),
  tokenCase('secret with + for its space', GOOD.replace('%20', '+')),
  tokenCase(
    'every byte of the secret percent-encoded',
    GOOD.replace(SECRET, percentAll(CLIENT.client_secret)),
  ),
  tokenCase(
    'lower-case percent-encoding',
    GOOD.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  ),
  tokenCase('secret with its + not encoded', GOOD.replace('%2B', '+')),
  tokenCase('wrong secret', `${GRANT}&client_id=${ID}&client_secret=wrong`),
  tokenCase('secret and a space', `${GOOD}%20`),
  tokenCase('no secret', `${GRANT}&client_id=${ID}`),
  tokenCase('empty secret', `${GRANT}&client_id=${ID}&client_secret=`),
  tokenCase('no client id', `${GRANT}&client_secret=${SECRET}`),
  tokenCase('empty client id', `${GRANT}&client_id=&client_secret=${SECRET}`),
  tokenCase('no credentials', GRANT),
  tokenCase('unknown client', `${GRANT}&client_id=${NOBODY}&client_secret=${SECRET}`),
  tokenCase('client id that is no UUID', `${GRANT}&client_id=nobody&client_secret=${SECRET}`),
  tokenCase('client id in capitals', `${GRANT}&client_id=${ID.toUpperCase()}&client_secret=${SECRET}`),
  tokenCase('client id as a path', `${GRANT}&client_id=..%2Faccounts%2F1&client_secret=${SECRET}`),
  tokenCase('client id __proto__', `${GRANT}&client_id=__proto__&client_secret=${SECRET}`),
  tokenCase('very long secret', `${GRANT}&client_id=${ID}&client_secret=${'x'.repeat(2_000)}`),
  tokenCase('secret beyond ASCII', `${GRANT}&client_id=${ID}&client_secret=s%C3%A9cret`),
  tokenCase('line break in the secret', `${GRANT}&client_id=${ID}&client_secret=a%0D%0Ab`),
  tokenCase('client_assertion beside the secret', `${GOOD}&client_assertion=${JWT}`),
  tokenCase(
    'client_assertion alone',
    `${GRANT}&client_id=${ID}&client_assertion=${JWT}&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer`,
  ),
];

const grants: Case[] = [
  tokenCase('no grant_type', `scope=api&${CREDENTIALS}`),
  tokenCase('empty grant_type', `grant_type=&scope=api&${CREDENTIALS}`),
  tokenCase('grant_type password', `grant_type=password&username=x&password=y&scope=api&${CREDENTIALS}`),
  tokenCase('grant_type authorization_code', `grant_type=authorization_code&code=x&${CREDENTIALS}`),
  tokenCase('grant_type refresh_token', `grant_type=refresh_token&refresh_token=x&${CREDENTIALS}`),
  tokenCase('grant_type nobody knows', `grant_type=urn%3Ax&scope=api&${CREDENTIALS}`),
  tokenCase('grant_type in capitals', `grant_type=CLIENT_CREDENTIALS&scope=api&${CREDENTIALS}`),
  tokenCase('grant_type with a space behind', `grant_type=client_credentials%20&scope=api&${CREDENTIALS}`),
  tokenCase('grant_type constructor', `grant_type=constructor&scope=api&${CREDENTIALS}`),
  tokenCase('grant_type unknown, wrong secret', `grant_type=password&client_id=${ID}&client_secret=wrong`),
  tokenCase('no grant_type, wrong secret', `client_id=${ID}&client_secret=wrong`),
  tokenCase('no scope', `grant_type=client_credentials&${CREDENTIALS}`),
  tokenCase('empty scope', `grant_type=client_credentials&scope=&${CREDENTIALS}`),
  tokenCase('scope admin', `grant_type=client_credentials&scope=admin&${CREDENTIALS}`),
  tokenCase('scope api admin', `grant_type=client_credentials&scope=api+admin&${CREDENTIALS}`),
  tokenCase('scope api api', `grant_type=client_credentials&scope=api+api&${CREDENTIALS}`),
  tokenCase('scope in capitals', `grant_type=client_credentials&scope=API&${CREDENTIALS}`),
  tokenCase('scope with a space behind', `grant_type=client_credentials&scope=api+&${CREDENTIALS}`),
  tokenCase('scope with a quotation mark', `grant_type=client_credentials&scope=%22&${CREDENTIALS}`),
  tokenCase(
    'scope admin, wrong secret',
    `grant_type=client_credentials&scope=admin&client_id=${ID}&client_secret=wrong`,
  ),
];

const encoding: Case[] = [
  tokenCase('empty body', ''),
  tokenCase('body of separators', '&&&'),
  tokenCase('separators between the fields', `&&${GOOD}&&`),
  tokenCase('unknown parameter', `${GOOD}&audience=x&resource_id=7`),
  tokenCase('unknown parameter twice', `${GOOD}&extra=x&extra=y`),
  tokenCase('grant_type twice', `${GOOD}&grant_type=client_credentials`),
  tokenCase('grant_type twice, differing', `${GOOD}&grant_type=password`),
  tokenCase('client_id twice', `${GOOD}&client_id=${ID}`),
  tokenCase('client_secret twice', `${GOOD}&client_secret=${SECRET}`),
  tokenCase('scope twice', `${GOOD}&scope=api`),
  tokenCase('scope twice, once empty', `${GOOD}&scope=`),
  tokenCase('scope twice, once with its name encoded', `${GOOD}&%73cope=api`),
  tokenCase('grant_type[]', GOOD.replace('grant_type=', 'grant_type[]=')),
  tokenCase('client_id[]', GOOD.replace('client_id=', 'client_id[]=')),
  tokenCase('client_secret[0]', GOOD.replace('client_secret=', 'client_secret[0]=')),
  tokenCase('scope[]', GOOD.replace('scope=', 'scope[]=')),
  tokenCase('scope as an object', GOOD.replace('scope=', 'scope[toString]=')),
  tokenCase('a[]', `${GOOD}&a[]=1&a[]=2`),
  tokenCase('__proto__ as a field', `${GOOD}&__proto__[scope]=admin&__proto__=x`),
  tokenCase('names with encoded characters', GOOD.replace('grant_type', 'grant%5Ftype')),
  tokenCase('separated by semicolons', GOOD.replaceAll('&', ';')),
  tokenCase('NUL encoded, behind the scope', GOOD.replace('scope=api', 'scope=api%00')),
  tokenCase('NUL encoded, in the secret', `${GRANT}&client_id=${ID}&client_secret=a%00b`),
  tokenCase('NUL encoded, in the client id', `${GRANT}&client_id=${ID}%00&client_secret=${SECRET}`),
  tokenCase('NUL as it is', `${GOOD}\0`),
  tokenCase('no UTF-8 in the secret', `${GRANT}&client_id=${ID}&client_secret=\xff\xfe`),
  tokenCase('no UTF-8 in the secret, encoded', `${GRANT}&client_id=${ID}&client_secret=%FF%FE`),
  tokenCase('no UTF-8 in an unknown parameter', `${GOOD}&x=\xff`),
  tokenCase('overlong UTF-8 of a slash', `${GOOD}&x=%C0%AF`),
  tokenCase('broken percent-encoding in the secret', `${GRANT}&client_id=${ID}&client_secret=100%`),
  tokenCase('broken percent-encoding in an unknown parameter', `${GOOD}&x=%zz`),
  tokenCase('byte order mark', `\xef\xbb\xbf${GOOD}`),
  tokenCase('line break behind the body', `${GOOD}\r\n`),
  tokenCase('JSON behind the body', `${GOOD}{"grant_type":"password"}`),
  tokenCase('JSON under the form’s type', '{"grant_type":"client_credentials"}'),
];

export const formCases = [...credentials, ...grants, ...encoding];

function percentAll(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
