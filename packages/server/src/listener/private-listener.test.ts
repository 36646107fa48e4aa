import { afterEach, describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { closeListener, echo, echoes, open, post } from '../../test/suite/wire.ts';

afterEach(closeListener);

/** Added by balancers and ingress controllers, or by any proxy (RFC 7239; RFC 9110, section 7.6.3). */
const ADDED_BY_PROXIES = [
  'Forwarded: for=203.0.113.7',
  'X-Forwarded-For: 203.0.113.7',
  'x-forwarded-for: 203.0.113.7',
  'X-Forwarded-Host: api.example.com',
  'X-Forwarded-Port: 443',
  'X-Forwarded-Server: proxy',
  'X-Real-IP: 203.0.113.7',
  'Via: 1.1 google',
];

describe('a private listener', () => {
  test.each(ADDED_BY_PROXIES)('refuses what came through a proxy: %s', async (field) => {
    let handled = 0;
    const handler = () => {
      handled += 1;
    };
    const wire = await open(handler, { directOnly: true });
    wire.socket.write(post('/fast', 'hi', `${field}\r\n`));
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 403 .*"code":"forbidden"/s);
    expect(wire.received()).toContain(field.split(':')[0]);
    expect(wire.received()).not.toContain('203.0.113.7');
    expect(handled).toBe(0);
  });

  test.each(['', 'X-Forwarded-Proto: http\r\n', 'X-Forwarded-Client-Cert: By=spiffe://a/b\r\n'])(
    'takes what services, probes and meshes send: %j',
    async (fields) => {
      const wire = await open(echo, { directOnly: true });
      wire.socket.write(post('/fast', 'hi', fields));
      await waitFor(() => echoes(wire).length === 1);
      expect(echoes(wire)).toEqual(['fast /fast hi']);
    },
  );
});

describe('a private listener with a path for proxies', () => {
  const options = { directOnly: true, proxiedBelow: '/operator' };

  test.each(['/operator', '/operator/', '/operator/accounts', '/operator?x', '/operator/../private'])(
    'serves them %s, taken literally',
    async (path) => {
      const wire = await open(echo, options);
      wire.socket.write(post(path, 'hi', 'X-Forwarded-For: 203.0.113.7\r\n'));
      await waitFor(() => echoes(wire).length === 1);
      expect(echoes(wire)[0]).toContain(path);
    },
  );

  test.each(['/operatorx', '/operator%2f..%2fprivate', '//operator', '/private', '/metrics', '/x/operator'])(
    'refuses them %s',
    async (path) => {
      const wire = await open(echo, options);
      wire.socket.write(post(path, 'hi', 'X-Forwarded-For: 203.0.113.7\r\n'));
      await wire.closed;
      expect(wire.received()).toMatch(/^HTTP\/1\.1 403 /);
    },
  );
});

test('a public listener serves proxies', async () => {
  const wire = await open(echo);
  wire.socket.write(post('/fast', 'hi', 'X-Forwarded-For: 203.0.113.7\r\n'));
  await waitFor(() => echoes(wire).length === 1);
});
