import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isRegistered, redirectHost, redirectUriFault } from './redirect-uri.ts';

describe('what can be registered', () => {
  test.each([
    'https://app.example/callback',
    'https://app.example/callback?tenant=1&x=%2F',
    'https://app.example',
    'https://app.example?x=1',
    'https://app.example:8443/',
    'https://[2001:db8::1]/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:3000/cb',
    'http://[::1]/cb',
    'http://localhost:8080/cb?x=1',
    'com.example.app:/callback',
    'com.example.app:/',
    'io.example.my-app:/a/b?c=d',
  ])('%s', (uri) => {
    expect(redirectUriFault(uri)).toBeUndefined();
  });
});

describe('what can’t', () => {
  test.each([
    '',
    'app.example/callback',
    '/callback',
    'https://',
    'https:///callback',
    'https:app.example',
    'http://app.example/callback',
    'http://127.0.0.1.evil.example/cb',
    'http://127.0.0.2/cb',
    'http://2130706433/cb',
    'http://localhost.evil.example/cb',
    'http://0.0.0.0/cb',
    'http://localhost:99999/cb',
    'http://localhost@evil.example/cb',
    'https://app.example/callback#',
    'https://app.example/callback#part',
    'https://user@app.example/',
    'https://user:secret@app.example/',
    'https://@app.example/',
    'https://*.app.example/cb',
    'https://app.example/a/../b',
    'https://app.example/%2e%2e/b',
    'https://app.example/a\\b',
    'https://app.example/ a',
    'https://app.example/\u0000',
    'https://app.example/ä',
    'https://bücher.example/',
    'https://APP.example/cb',
    'HTTPS://app.example/cb',
    'https://app.example:443/cb',
    'https://app.example/%zz',
    'https://0x7f.1/cb',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'myapp:/callback',
    'com.example.app://callback',
    'com.example.app:callback',
    'ftp://app.example/',
    'urn:ietf:wg:oauth:2.0:oob',
  ])('%j', (uri) => {
    expect(redirectUriFault(uri)).toEqual(expect.any(String));
  });
});

test('a browser goes to exactly what is registered as https', () => {
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }), (uri) => {
      fc.pre(redirectUriFault(uri) === undefined);
      expect([uri, `${uri}/`]).toContain(
        new URL(uri).href.replace(/\/(?=\?|$)/, uri.includes('/', 8) ? '/' : ''),
      );
    }),
  );
});

test('arbitrary text never throws, and what is accepted is an address without a fragment', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl({ withFragments: true })), (text) => {
      if (redirectUriFault(text) === undefined) expect(new URL(text).hash).toBe('');
    }),
  );
});

describe('comparison', () => {
  const registered = [
    'https://app.example/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:4000/cb?x=1',
    'com.example:/cb',
  ];

  test.each([
    'https://app.example/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:51234/cb',
    'http://[::1]:1/cb?x=1',
    'com.example:/cb',
  ])('%s is registered', (uri) => {
    expect(isRegistered(uri, registered)).toBe(true);
  });

  test.each([
    '',
    'https://app.example/cb/',
    'https://app.example/cb?',
    'https://app.example/cb?x=1',
    'https://app.example/CB',
    'https://app.example:8443/cb',
    'https://app.example/cb#x',
    'https://app.example/cb/../cb',
    'https://app.example.evil.example/cb',
    'https://evil.example/https://app.example/cb',
    'http://app.example/cb',
    'http://localhost:51234/cb',
    'http://127.0.0.1:51234/cb2',
    'http://127.0.0.1:51234/cb#x',
    'http://127.0.0.1:51234@evil.example/cb',
    'http://127.0.0.1:70000/cb',
    'http://127.0.0.1:/cb',
    'com.example:/cb2',
    'com.example://cb',
  ])('%j is not', (uri) => {
    expect(isRegistered(uri, registered)).toBe(false);
  });
});

test('the host is shown with its port; an application on the person’s device has none', () => {
  expect(redirectHost('https://app.example:8443/cb')).toBe('app.example:8443');
  expect(redirectHost('http://127.0.0.1:4000/cb')).toBeNull();
  expect(redirectHost('com.example.app:/cb')).toBeNull();
});
