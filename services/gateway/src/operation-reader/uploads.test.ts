import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { once } from 'node:events';
import fc from 'fast-check';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../test/suite/gateway.ts';
import { withLimits } from '../../test/suite/stand-ins.ts';
import { watchUpstream } from '../../test/suite/upstreams/watch-upstream.ts';
import { createUploadParts } from './upload-parts.ts';

const DEFAULT_POINTS = 3;
/** A quarter of them is for uploads, and a quarter of that for one payer. */
const UPSTREAM_CONNECTIONS = 32;
const UPLOADS_PER_PAYER = 2;

let gateway: GatewayUnderTest;
let nextAccount = 8_000;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      GRAPHQL_UPLOADS: 'on',
      DEFAULT_POINTS: String(DEFAULT_POINTS),
      UPSTREAM_CONNECTIONS: String(UPSTREAM_CONNECTIONS),
      MAX_REQUEST_BODY_BYTES: '100000000',
      UPSTREAM_BODY_IDLE_TIMEOUT_MS: '60000',
    },
  });
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

const TYPE = 'multipart/form-data; boundary=bound';
const part = (disposition: string, content: string) =>
  `--bound\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const operations = (content: string) => part('name="operations"', content);
const FILE = part('name="0"; filename="a.txt"', 'a file');
const MAP = part('name="map"', '{"0":["variables.file"]}');
const MUTATION = '{"query":"mutation { a }"}';
const NAME = 'form-data; name="operations"';
const OPERATIONS_AS_FILE = 'name="operations"; filename=""';
const named = (before: string) =>
  `--bound\r\n${before}${NAME}\r\nContent-Disposition: form-data; name="0"\r\n\r\n${MUTATION}\r\n`;
const typed = (line: string) => `--bound\r\nContent-Disposition: ${NAME}\r\n${line}\r\n\r\n${MUTATION}\r\n`;
/** A file that holds another part for a reader that takes boundaries wherever they are. */
const hidden = (before: string) =>
  part('name="0"; filename="a"', `a${before}${operations(MUTATION).trimEnd()}`);
const whole = (...parts: string[]) => `${parts.join('')}--bound--\r\n`;

function customer() {
  const accountId = (nextAccount += 1);
  gateway.account.entitle(accountId, withLimits(accountId, { session_limit: 100 }));
  return { accountId, token: gateway.auth.issue({ accountId }) };
}

const send = (body: string | Buffer, token?: string) =>
  gateway.query({ body, headers: { 'content-type': TYPE }, ...(token === undefined ? {} : { token }) });

test('an upload passes as it was sent, and costs what its operations cost', async () => {
  const { accountId, token } = customer();
  const seen = watchUpstream(gateway);
  const body = whole(operations(`[${MUTATION},${MUTATION}]`), MAP, FILE);
  expect((await send(body, token)).status).toBe(200);
  expect(seen.map((one) => [one.body.toString(), one.headers['content-type']])).toEqual([[body, TYPE]]);
  expect(await gateway.usage(1, accountId)).toMatchObject([{ points: 2 * DEFAULT_POINTS }]);
});

describe('an upload whose operations could be read differently is 400', () => {
  test.each([
    ['none', whole(MAP, FILE)],
    ['after a file', whole(FILE, operations(MUTATION))],
    ['twice', whole(operations(MUTATION), MAP, operations('{"query":"{ a }"}'))],
    ['twice, in another case', whole(operations(MUTATION), part('name="Operations"', '{}'))],
    ['as a file', whole(part('name="operations"; filename="a"', MUTATION))],
    ['with two names', whole(part('name="operations"; name="map"', MUTATION))],
    ['with an escape in its name', whole(part('name="operation\\s"', MUTATION))],
    ['not whole', `--bound\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${MUTATION}`],
    ['behind a preamble', `x\r\n${whole(operations(MUTATION))}`],
    ['no JSON', whole(operations('mutation { a }'))],
    ['a repeated name', whole(operations('{"query":"{ a }","query":"mutation { a }"}'))],
    ['bytes that are no UTF-8', whole(operations('{"query":"{ a }","x":"\u00e9"}')), 'latin1' as const],
    ['in another charset', whole(typed('Content-Type: application/json; charset=shift_jis'))],
    ['in another transfer encoding', whole(typed('Content-Transfer-Encoding: quoted-printable'))],
    ['twice, the second as a file', whole(operations(MUTATION), part(OPERATIONS_AS_FILE, MUTATION))],
    ['twice, the second behind a blank', whole(operations(MUTATION), part('name=" operations"', MUTATION))],
    ['twice, the second as a part', whole(operations(MUTATION), part('name="operations[a]"', MUTATION))],
    ['named in a line of another head', whole(operations(MUTATION), named('X: y\nContent-Disposition: '))],
    ['named in a line of a name', whole(operations(MUTATION), part(`name="0\n${NAME}"`, MUTATION))],
    ['named in a folded line', whole(operations(MUTATION), part('name="0"\r\n ; name="operations"', 'x'))],
    ['behind a boundary after a bare line feed', whole(operations(MUTATION), hidden('\n'))],
    ['behind a boundary within a line', whole(operations(MUTATION), hidden('x'))],
    ['behind a boundary in a head', whole(operations(MUTATION), part(`name="--bound"`, MUTATION))],
    ['behind the last boundary', `${whole(operations(MUTATION))}${operations(MUTATION)}`],
  ])('%s', async (_name, body, encoding: BufferEncoding = 'utf8') => {
    const seen = watchUpstream(gateway);
    const answer = await send(Buffer.from(body, encoding));
    expect(answer.status).toBe(400);
    expect(seen).toEqual([]);
  });

  test('a batch above the limit', async () => {
    const batch = `[${Array.from({ length: 11 }, () => MUTATION).join()}]`;
    expect((await send(whole(operations(batch), FILE))).json()).toMatchObject({
      errors: [{ extensions: { code: 'batch_too_large' } }],
    });
  });
});

const FILE_HEAD = '--bound\r\nContent-Disposition: form-data; name="0"; filename="a"\r\n\r\n';
const END = '\r\n--bound--\r\n';

/** An upload of which the operations have been sent, and the file begins. */
function begin(token: string): { call: ClientRequest; status: Promise<number | undefined> } {
  const call = request(gateway.graphqlUrl, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': TYPE },
  });
  const status = once(call, 'response').then(([answer]) => (answer as { statusCode?: number }).statusCode);
  status.catch(() => undefined);
  call.write(operations(MUTATION) + FILE_HEAD);
  return { call, status };
}

/** The next request at the upstream, which doesn't answer. One that the gateway has only counted may not get there. */
function watchRequest(): { hasBegun: Promise<unknown>; isWhole: Promise<boolean> } {
  const begun = Promise.withResolvers<undefined>();
  const isWhole = new Promise<boolean>((resolve) => {
    gateway.upstream((req) => {
      begun.resolve(undefined);
      req.resume().once('close', () => {
        resolve(req.complete);
      });
    });
  });
  return { hasBegun: begun.promise, isWhole };
}

describe('a large upload', () => {
  test('is passed on while it arrives, with back-pressure, and whole', async () => {
    const bytes = 50_000_000;
    let receivedBytes = 0;
    const arrived = new Promise<() => void>((resolve) => {
      gateway.upstream((req, res) => {
        resolve(() => {
          req.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
          req.once('end', () => res.end('{}'));
        });
      });
    });
    const { call, status } = begin(customer().token);
    call.write(Buffer.alloc(bytes, 'x'));
    const release = await arrived;
    // The gateway doesn't take it all while the upstream doesn't.
    expect(call.writableLength).toBeGreaterThan(0);
    release();
    call.end(END);
    expect(await status).toBe(200);
    expect(receivedBytes).toBe(operations(MUTATION).length + FILE_HEAD.length + bytes + END.length);
  });

  test('whose caller goes away ends at the upstream, incomplete', async () => {
    const { hasBegun, isWhole } = watchRequest();
    const { call } = begin(customer().token);
    await hasBegun;
    call.on('error', () => undefined).destroy();
    expect(await isWhole).toBe(false);
  });

  test('that turns out to have other operations, too, ends at the upstream, incomplete', async () => {
    const { hasBegun, isWhole } = watchRequest();
    const { call, status } = begin(customer().token);
    await hasBegun;
    call.end(`\r\n${operations('{"query":"{ a }"}')}--bound--\r\n`);
    expect(await status).toBe(400);
    expect(await isWhole).toBe(false);
  });
});

test('unfinished uploads are a payer’s part at most, and leave connections for others', async () => {
  const [one, other] = [customer(), customer()];
  const open = Array.from({ length: UPLOADS_PER_PAYER }, () => begin(one.token));
  await waitFor(async () => (await gateway.metric('tollgate_upstream_in_flight')) === UPLOADS_PER_PAYER);
  expect((await send(whole(operations(MUTATION), FILE), one.token)).status).toBe(429);
  expect((await gateway.query({ token: one.token })).status).toBe(200);
  expect((await send(whole(operations(MUTATION), FILE), other.token)).status).toBe(200);
  for (const { call } of open) call.end(`x${END}`);
  expect(await Promise.all(open.map(({ status }) => status))).toEqual(open.map(() => 200));
  expect((await send(whole(operations(MUTATION), FILE), one.token)).status).toBe(200);
});

test.each([
  'Content-Type: application/json',
  'Content-Type: text/plain; charset=UTF-8',
  'Content-Type: application/json; charset="utf-8"\r\nContent-Transfer-Encoding: 8bit',
  'Content-Transfer-Encoding: binary\r\nContent-Length: 24',
])('operations with usual fields pass: %j', async (fields) => {
  expect((await send(whole(typed(fields), MAP, FILE))).status).toBe(200);
});

test('the operations are found however an upload is cut into chunks', () => {
  const body = Buffer.from(
    whole(operations(MUTATION), MAP, part('name="0"; filename="a"', '\r\n--boun\r\n--'), FILE),
  );
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sizes) => {
      const { saw } = createUploadParts('bound');
      const found: string[] = [];
      for (let at = 0, index = 0; at < body.length; index += 1) {
        const size = sizes[index % sizes.length] ?? 1;
        const text = saw(body.subarray(at, at + size));
        if (text !== undefined) found.push(text);
        at += size;
      }
      expect(found).toEqual([MUTATION]);
    }),
  );
});
