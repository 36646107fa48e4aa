import { expect, test } from '@jest/globals';
import { urlFault } from './url-rules.ts';

const STRICT = { allowHttp: false, allowPrivateAddresses: false };
const WANTED = 'must be an https:// URL of a public server with port 443, 80, or 1024 and above';

test.each([
  ['http://127.0.0.1:9/x', 'starts with http://, uses port 9, and has a private IP address'],
  ['http://hooks.example/', 'starts with http://'],
  ['ftp://hooks.example/', 'starts with ftp://'],
  ['https://hooks.example:25/', 'uses port 25'],
  ['https://10.0.0.8:8443/', 'has a private IP address'],
  ['https://[::1]/', 'has a private IP address'],
  // As the URL parser reads it.
  ['https://2130706433/', 'has a private IP address'],
  ['https://localhost/', 'is on your own machine'],
  ['https://app.localhost./', 'is on your own machine'],
  ['https://ada:secret@hooks.example/#part', 'has a user or password and has a fragment (#)'],
  ['https://hooks.example/#', 'has a fragment (#)'],
])('%s: this one %s', (url, fault) => {
  expect(urlFault(url, STRICT)).toBe(`${WANTED}. This one ${fault}`);
});

test('what is no URL is answered with an example', () => {
  expect(urlFault('not an address', STRICT)).toBe(`${WANTED}, such as https://hooks.example.com/tollgate`);
});

test.each(['https://hooks.example/in?key=1', 'https://hooks.example:8443/', 'https://93.184.215.14:80/'])(
  '%s is accepted',
  (url) => {
    expect(urlFault(url, STRICT)).toBeUndefined();
  },
);

test('what the operator allows is neither refused nor named as a fault', () => {
  const loose = { allowHttp: true, allowPrivateAddresses: true };
  expect(urlFault('http://127.0.0.1:8080/x', loose)).toBeUndefined();
  expect(urlFault('http://localhost:9/x', loose)).toBe(
    'must be an https:// or http:// URL with port 443, 80, or 1024 and above. This one uses port 9',
  );
});
