import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { get } from 'node:http';
import { newRequestId } from '@tollgate/log/request-id';
import { isPortTaken } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { ownProcesses } from '@tollgate/testbed/config';
import { addClient, startAuth } from './suite/auth-under-test.ts';
import type { AuthUnderTest } from './suite/auth-under-test.ts';
import { postToken, tokenForm } from './suite/requests.ts';
import { GOOD_SETTINGS, runToItsEnd } from './suite/run-to-its-end.ts';

ownProcesses();

describe('a wrong configuration', () => {
  test('with nothing set: every setting that has no default is named, exit code 1', () => {
    const { status, output } = runToItsEnd({});
    expect(status).toBe(1);
    for (const name of Object.keys(GOOD_SETTINGS).filter((name) => !name.endsWith('_HOST'))) {
      expect(output).toContain(`${name}: is not set (nor is ${name}_FILE)`);
    }
  });

  test('several faults: all named at once, no value printed, exit code 1', () => {
    const wrong = {
      PUBLIC_PORT: '65536-hunter2',
      SERVICE_CREDENTIALS: 'gateway:hunter2',
      SERVICE_CLIENT_SECRET: 'hunter2',
      REDIS_URL: 'http://:hunter2@127.0.0.1',
      ACCOUNT_PRIVATE_URL: 'http://user:hunter2@127.0.0.1',
      CLIENT_SECRET_PEPPERS: 'hunter2',
      TOKEN_PREFIX: 'Hunter2',
      MAX_BODY_BYTES: '12 hunter2',
      LOG_LEVEL: 'hunter2',
      ISSUER_URL: 'https://auth.example/hunter2',
      TRUSTED_PROXIES: '10.0.0.0/8 hunter2',
    };
    const { status, output } = runToItsEnd({ ...GOOD_SETTINGS, ...wrong });
    expect(status).toBe(1);
    expect(output).toContain('The configuration has 11 fault(s)');
    for (const name of Object.keys(wrong))
      expect(output).toMatch(new RegExp(`  - ${name}: (must|Invalid option: expected) `));
    expect(output).not.toMatch(/hunter2|node_modules|at .*\.ts/i);
  });
});

describe('a running auth', () => {
  let auth: AuthUnderTest;

  beforeAll(async () => {
    auth = await startAuth({ SHUTDOWN_IDLE_GRACE_MS: '500' });
  });

  afterAll(() => auth.close());

  test('a taken port: which one and what moves it, exit code 1', () => {
    const { port: publicPort } = new URL(auth.service.publicUrl);
    const { port: privatePort } = new URL(auth.service.privateUrl);
    for (const [setting, port] of [
      ['PUBLIC_PORT', publicPort],
      ['PRIVATE_PORT', privatePort],
    ] as const) {
      const { status, output } = runToItsEnd({ ...GOOD_SETTINGS, [setting]: port });
      expect(status).toBe(1);
      expect(output).toMatch(new RegExp(`port ${port} on 127.0.0.1 is taken.*set ${setting} to a free port`));
      expect(output).not.toContain('listening');
    }
  });

  test('an unknown path is 404 problem+json on both listeners, however it is written', async () => {
    const paths = ['/', '/oauth2', '/oauth2/token/', '/OAUTH2/TOKEN', '/oauth2/token/x', '/%', '/%ff', '//'];
    const urls = [
      ...paths.map((path) => auth.service.publicUrl + path),
      ...paths.map((path) => auth.service.privateUrl + path),
      `${auth.service.publicUrl}/oauth2/introspect`,
      `${auth.service.publicUrl}/metrics`,
      `${auth.service.publicUrl}/health/live`,
      `${auth.service.privateUrl}/oauth2/token`,
    ];
    for (const url of urls) {
      const response = await fetch(url, { method: 'POST' });
      expect([url, response.status]).toEqual([url, 404]);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toEqual({
        type: 'urn:tollgate:problem:not_found',
        title: 'Not found',
        status: 404,
        code: 'not_found',
        request_id: response.headers.get('x-request-id'),
      });
      expect(response.headers.has('x-powered-by')).toBe(false);
    }
  });

  test('a request id passes through to account and the log', async () => {
    const client = addClient(auth.account);
    const requestId = newRequestId();
    const response = await postToken(auth.service, tokenForm(client), { 'x-request-id': requestId });
    expect(response.headers.get('x-request-id')).toBe(requestId);
    await waitFor(() => auth.service.logs().includes(`"request_id":"${requestId}"`));
    expect(auth.account.requestIds.at(-1)).toBe(requestId);
  });

  test('what a caller puts in place of a request id is neither echoed nor logged', async () => {
    const client = addClient(auth.account);
    const given = client.client_secret;
    const response = await postToken(auth.service, tokenForm(client), { 'x-request-id': given });
    const own = response.headers.get('x-request-id') ?? '';
    expect(own).toMatch(/^[0-9a-f]{32}$/);
    await waitFor(() => auth.service.logs().includes(own));
    expect(auth.service.logs()).not.toContain(given);
  });

  test('SIGTERM: a request under way is finished, nothing new is taken, exit code 0', async () => {
    const client = addClient(auth.account);
    const release = auth.account.hold();
    const underWay = postToken(auth.service, tokenForm(client));
    await waitFor(() => auth.account.requests.at(-1)?.endsWith(client.client_id));
    const stopped = auth.service.stop();
    await waitFor(async () => !(await isPortTaken(Number(new URL(auth.service.publicUrl).port))));
    // On a connection of its own: one that is kept may bring a last request.
    const [refusal] = (await once(get(auth.service.publicUrl, { agent: false }), 'error')) as [Error];
    expect(refusal).toMatchObject({ code: 'ECONNREFUSED' });
    release();
    const response = await underWay;
    expect([response.status, await response.json()]).toMatchObject([200, { token_type: 'bearer' }]);
    expect(await stopped).toEqual({ code: 0, signal: null });
    await auth.service.restart();
  });
});
