import { FORM, GOOD, GOOD_BASIC, GRANT, tokenCase, tokenRequest } from './corpus.ts';
import type { Case } from './corpus.ts';

const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

function typed(type: string, body = GOOD): Case {
  return tokenCase(`content type ${type}`, body, [['Content-Type', type]]);
}

const gzipped = '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x04\x00\x43\xbe\xb7\xe8\x01\x00\x00\x00';

export const transportCases: Case[] = [
  ...methods.map((method) => tokenRequest(`method ${method}`, { method, body: '', headers: [] })),
  tokenRequest('method GET with good fields in the query', {
    method: 'GET',
    target: `/oauth2/token?${GOOD}`,
    headers: [],
    body: '',
  }),
  tokenRequest('method PUT with a good body', { method: 'PUT' }),
  tokenRequest('method override', {
    method: 'GET',
    headers: [FORM, ['X-HTTP-Method-Override', 'POST']],
  }),
  tokenRequest('all fields in the query', { target: `/oauth2/token?${GOOD}`, body: '' }),
  tokenRequest('other fields in the query', { target: '/oauth2/token?scope=admin&grant_type=password' }),
  tokenRequest('a slash behind the path', { target: '/oauth2/token/' }),
  tokenRequest('path in capitals', { target: '/OAUTH2/TOKEN' }),
  tokenRequest('path that does not decode', { target: '/oauth2/token%' }),
  tokenRequest('path that does not exist', { target: '/oauth2/nothing' }),
  tokenRequest('absolute target', { target: 'http://127.0.0.1/oauth2/token' }),
  typed('application/x-www-form-urlencoded; charset=utf-8'),
  typed('application/x-www-form-urlencoded;charset=UTF-8'),
  typed('application/x-www-form-urlencoded; charset=iso-8859-1'),
  typed('application/x-www-form-urlencoded; charset=utf-7'),
  typed('application/x-www-form-urlencoded; charset=utf-16'),
  typed('application/x-www-form-urlencoded; charset=nonsense'),
  typed('APPLICATION/X-WWW-FORM-URLENCODED'),
  typed('application/x-www-form-urlencoded; boundary=x'),
  typed('application/x-www-form-urlencoded,text/plain'),
  typed('application/json', '{"grant_type":"client_credentials"}'),
  tokenCase('good form under the type of JSON', GOOD, [['Content-Type', 'application/json']]),
  typed(
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="scope"\r\n\r\napi\r\n--x--',
  ),
  typed('text/plain'),
  typed('nonsense'),
  tokenCase('no content type', GOOD, []),
  tokenCase('content type empty', GOOD, [['Content-Type', '']]),
  tokenCase('content type twice', GOOD, [FORM, ['Content-Type', 'application/json']]),
  tokenCase('content encoding gzip', gzipped, [FORM, ['Content-Encoding', 'gzip']]),
  tokenCase('content encoding identity', GOOD, [FORM, ['Content-Encoding', 'identity']]),
  tokenCase('no body, Basic', '', [FORM, GOOD_BASIC]),
  tokenCase('no body and no content type', '', []),
  tokenCase('Accept text/html', `${GRANT}&client_id=x`, [FORM, ['Accept', 'text/html']]),
  tokenCase('Accept image/png', GOOD, [FORM, ['Accept', 'image/png']]),
  tokenCase('Origin of another site', GOOD, [FORM, ['Origin', 'https://elsewhere.example']]),
  tokenCase('Expect 100-continue', GOOD, [FORM, ['Expect', '100-continue']]),
  tokenCase('Expect something else', GOOD, [FORM, ['Expect', '200-ok']]),
  tokenCase('If-None-Match *', GOOD, [FORM, ['If-None-Match', '*']]),
  tokenRequest('chunked', { chunkBytes: 1_000 }),
  tokenRequest('chunked, byte by byte', { chunkBytes: 1 }),
  tokenRequest('chunked, oversized', { chunkBytes: 8_192, body: `${GOOD}&x=${'x'.repeat(60_000)}` }),
  tokenCase('oversized', `${GOOD}&x=${'x'.repeat(60_000)}`),
  tokenCase('between the two size limits', `${GOOD}&x=${'x'.repeat(20_000)}`),
  tokenCase('under both size limits', `${GOOD}&x=${'x'.repeat(15_000)}`),
  tokenCase(
    '2000 unknown fields',
    `${GOOD}${Array.from({ length: 2_000 }, (_, n) => `&f${String(n)}`).join('')}`,
  ),
  tokenCase(
    '2000 unknown fields in front',
    `${Array.from({ length: 2_000 }, (_, n) => `f${String(n)}&`).join('')}${GOOD}`,
  ),
  tokenCase('garbage behind the announced length', `${GOOD}&scope=admin&grant_type=password`, [
    FORM,
    ['Content-Length', String(GOOD.length)],
  ]),
  tokenCase('announced length no number', GOOD, [FORM, ['Content-Length', 'ten']]),
  tokenCase('announced length negative', GOOD, [FORM, ['Content-Length', '-1']]),
  tokenCase('announced length twice, differing', GOOD, [
    FORM,
    ['Content-Length', String(GOOD.length)],
    ['Content-Length', '1'],
  ]),
  tokenCase('length and chunks', '0\r\n\r\n', [
    FORM,
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
  ]),
  tokenCase('chunk length no number', 'zz\r\nx\r\n0\r\n\r\n', [FORM, ['Transfer-Encoding', 'chunked']]),
  tokenCase('huge header', GOOD, [FORM, ['X-Padding', 'x'.repeat(20_000)]]),
  tokenCase('large header', GOOD, [FORM, ['X-Padding', 'x'.repeat(10_000)]]),
  tokenCase('NUL in a header', GOOD, [FORM, ['X-Padding', 'a\0b']]),
  tokenCase('space before a header’s colon', GOOD, [FORM, ['X-Padding ', 'x']]),
  tokenCase('folded header', GOOD, [FORM, ['X-Padding', 'a\r\n b']]),
];
