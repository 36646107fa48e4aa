import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addClient, startAuth } from '../../../test/suite/auth-under-test.ts';
import type { AuthUnderTest, TestClient } from '../../../test/suite/auth-under-test.ts';
import { postToken, postTokenInChunks, tokenForm } from '../../../test/suite/requests.ts';

let auth: AuthUnderTest;
let client: TestClient;

beforeAll(async () => {
  auth = await startAuth();
  client = addClient(auth.account);
});

afterAll(() => auth.close());

/** RFC 6749, section 5.2. */
async function expectError(response: Response, status: number, error: string): Promise<void> {
  const text = await response.text();
  expect([response.status, text]).toEqual([status, expect.stringContaining(`"error":"${error}"`)]);
  const body = JSON.parse(text) as Record<string, string>;
  expect(Object.keys(body)).toEqual(['error', 'error_description']);
  expect(body['error_description']).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]{5,100}$/);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('pragma')).toBe('no-cache');
  expect(response.headers.has('www-authenticate')).toBe(status === 401);
  expect(text).not.toMatch(/node_modules|\.ts:|127\.0\.0\.1|zod|express/i);
}

function basicOf(text: string | Uint8Array, scheme = 'Basic'): string {
  return `${scheme} ${Buffer.from(text).toString('base64')}`;
}

function formWith(changes: Record<string, string | undefined>): Record<string, string> {
  const fields = Object.entries({ ...tokenForm(client), ...changes });
  return Object.fromEntries(fields.filter((field): field is [string, string] => field[1] !== undefined));
}

describe('the request’s shape', () => {
  test('a missing or empty grant_type is invalid_request', async () => {
    for (const grant_type of [undefined, '']) {
      const response = await postToken(auth.service, formWith({ grant_type }));
      await expectError(response, 400, 'invalid_request');
    }
  });

  test('a parameter given twice is invalid_request, whichever it is', async () => {
    const good = new URLSearchParams(tokenForm(client)).toString();
    for (const name of ['grant_type', 'client_id', 'client_secret', 'scope', 'unknown']) {
      const response = await postToken(auth.service, `${good}&${name}=api&${name}=api`);
      await expectError(response, 400, 'invalid_request');
    }
  });

  test('arrays and objects reach nothing: their names are unknown parameters', async () => {
    for (const other of ['grant_type[]', 'grant_type[0]', 'grant_type[toString]']) {
      const response = await postToken(auth.service, formWith({ grant_type: undefined, [other]: 'x' }));
      await expectError(response, 400, 'invalid_request');
    }
    for (const name of ['client_id', 'client_secret']) {
      const response = await postToken(auth.service, formWith({ [name]: undefined, [`${name}[]`]: 'x' }));
      await expectError(response, 401, 'invalid_client');
    }
  });

  test('parameters in the query don’t count', async () => {
    const response = await fetch(
      `${auth.service.publicUrl}/oauth2/token?${new URLSearchParams(tokenForm(client)).toString()}`,
      { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: '' },
    );
    await expectError(response, 401, 'invalid_client');
  });

  test('a wrong or missing content type is invalid_request', async () => {
    const types = ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'x'];
    for (const type of types) {
      const response = await postToken(auth.service, tokenForm(client), { 'content-type': type });
      await expectError(response, 400, 'invalid_request');
    }
    const url = `${auth.service.publicUrl}/oauth2/token`;
    await expectError(await fetch(url, { method: 'POST' }), 400, 'invalid_request');
    const body = Buffer.from(new URLSearchParams(tokenForm(client)).toString());
    await expectError(await fetch(url, { method: 'POST', body }), 400, 'invalid_request');
  });

  test('bytes that aren’t UTF-8, NUL, a broken percent sign and a compressed body are invalid_request', async () => {
    const good = new URLSearchParams(tokenForm(client)).toString();
    const bodies = [
      Buffer.concat([Buffer.from(`${good}&x=`), Buffer.from([0xff, 0xfe])]),
      `${good}&x=%FF`,
      `${good}&x=%00`,
      `${good}&x=\0`,
      `${good}&x=%zz`,
    ];
    for (const body of bodies) await expectError(await postToken(auth.service, body), 400, 'invalid_request');
    const compressed = await postToken(auth.service, good, { 'content-encoding': 'gzip' });
    await expectError(compressed, 400, 'invalid_request');
  });

  test('a shape that is wrong is told before credentials that are wrong', async () => {
    const body = `${new URLSearchParams(formWith({ client_secret: 'wrong' })).toString()}&scope=api`;
    await expectError(await postToken(auth.service, body), 400, 'invalid_request');
  });
});

test('a client assertion beside a secret is a second method: invalid_request', async () => {
  const client_assertion = 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln';
  await expectError(await postToken(auth.service, formWith({ client_assertion })), 400, 'invalid_request');
  const inHeader = formWith({ client_assertion, client_id: undefined, client_secret: undefined });
  const authorization = basicOf(`${client.client_id}:${client.client_secret}`);
  await expectError(await postToken(auth.service, inHeader, { authorization }), 400, 'invalid_request');
});

describe('HTTP Basic', () => {
  test('together with a secret in the body is invalid_request, good or not', async () => {
    const good = basicOf(`${client.client_id}:${client.client_secret}`);
    for (const authorization of [good, basicOf('other:wrong'), 'Bearer x']) {
      const response = await postToken(auth.service, tokenForm(client), { authorization });
      await expectError(response, 400, 'invalid_request');
    }
  });

  test('with another client id in the body is invalid_request', async () => {
    const authorization = basicOf(`${client.client_id}:${client.client_secret}`);
    const form = formWith({ client_secret: undefined, client_id: addClient(auth.account).client_id });
    await expectError(await postToken(auth.service, form, { authorization }), 400, 'invalid_request');
  });
});

describe('the grant type, after the client', () => {
  test('another one is unsupported_grant_type', async () => {
    const others = [
      'password',
      'implicit',
      'urn:ietf:params:oauth:grant-type:device_code',
      'Client_Credentials',
      'client_credentials ',
      'client credentials',
      'constructor',
      '__proto__',
      'x'.repeat(1_000),
    ];
    for (const grant_type of others) {
      const response = await postToken(auth.service, formWith({ grant_type, scope: undefined }));
      await expectError(response, 400, 'unsupported_grant_type');
    }
  });

  test('someone who isn’t authenticated isn’t told', async () => {
    for (const changes of [{ grant_type: 'password' }, { grant_type: undefined }, { scope: 'admin' }]) {
      const response = await postToken(auth.service, formWith({ ...changes, client_secret: 'wrong' }));
      await expectError(response, 401, 'invalid_client');
    }
  });
});

describe('the scope, last', () => {
  test('missing, empty or anything but exactly api is invalid_scope', async () => {
    const scopes = [
      undefined,
      '',
      'admin',
      'API',
      ' api',
      'api ',
      'api api',
      'api admin',
      'api,admin',
      'api\t',
    ];
    for (const scope of [...scopes, '"', 'äpi', 'x'.repeat(1_000), '__proto__']) {
      const response = await postToken(auth.service, formWith({ scope }));
      await expectError(response, 400, 'invalid_scope');
    }
  });
});

describe('other methods and sizes', () => {
  test('another method is 405 with Allow', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await fetch(`${auth.service.publicUrl}/oauth2/token`, { method });
      expect([method, response.headers.get('allow')]).toEqual([method, 'POST']);
      if (method === 'HEAD') expect([response.status, await response.text()]).toEqual([405, '']);
      else await expectError(response, 405, 'invalid_request');
    }
  });

  test('a body over MAX_BODY_BYTES is 413, announced or not', async () => {
    const form = formWith({ padding: 'x'.repeat(16_384) });
    await expectError(await postToken(auth.service, form), 413, 'invalid_request');
    const chunked = await postTokenInChunks(auth.service, form);
    await expectError(chunked, 413, 'invalid_request');
  });
});

test('what a caller sent is in no error and no log line', async () => {
  const canary = 'hunter2canary';
  const forms = ['grant_type', 'client_id', 'client_secret', 'scope', canary].map((name) =>
    formWith({ [name]: canary }),
  );
  for (const form of forms) {
    for (const authorization of [undefined, basicOf(`${canary}:${canary}`), `Bearer ${canary}`]) {
      const headers = authorization === undefined ? {} : { authorization };
      expect(await (await postToken(auth.service, form, headers)).text()).not.toContain(canary);
    }
  }
  expect(auth.service.logs()).not.toContain(canary);
});
