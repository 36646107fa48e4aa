import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { connectionOptions, forwardsAnswerField, forwardsRequestField } from './forwardable.ts';

const HOP_BY_HOP = [
  'Connection',
  'Keep-Alive',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
];
const OURS = [
  'X-Account-Id',
  'X-Payer-Id',
  'X-Application-Id',
  'X-Request-Id',
  'traceparent',
  'tracestate',
  'baggage',
  'Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Anything',
  'X-Real-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Original-URL',
  'X-Original-Forwarded-For',
  'X-Envoy-External-Address',
  'True-Client-IP',
  'CF-Connecting-IP',
  'Fastly-Client-IP',
  'Remote-User',
  'Remote-Groups',
  'X-Remote-User',
  'X-Remote-Extra-Scopes',
  'X-Webauth-User',
  'X-Amzn-Oidc-Identity',
  'X-Amzn-Oidc-Data',
  'X-Amzn-Mtls-Clientcert',
  'X-Ms-Client-Principal',
  'X-Ms-Client-Principal-Name',
  'X-Ms-Token-Aad-Id-Token',
  'X-Goog-Authenticated-User-Email',
  'X-Goog-Iap-Jwt-Assertion',
  'Ssl-Client-Cert',
  'Ssl-Client-Verify',
  'X-Ssl-Client-Dn',
  'X-Client-Cert',
  'X-Client-Certificate',
  'Client-Cert',
  'X-Appengine-User-Email',
  'X-Appengine-Inbound-Appid',
  'X-Auth-Request-Email',
  'X-Consumer-Username',
  'X-Authenticated-Userid',
  'X-Pomerium-Jwt-Assertion',
  'Cf-Access-Authenticated-User-Email',
  'Tailscale-User-Login',
  'OIDC_CLAIM_sub',
  'X-Userinfo',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'Via',
  'Host',
  'Content-Length',
  'Expect',
];

/** A name with the case of each letter, and each hyphen, as a forger may choose. */
function disguised(name: string): fc.Arbitrary<string> {
  return fc
    .array(fc.record({ upper: fc.boolean(), separator: fc.constantFrom('-', '_', '.', '!', '~') }), {
      minLength: name.length,
      maxLength: name.length,
    })
    .map((choices) =>
      choices
        .map(({ upper, separator }, index) => {
          const letter = name[index] ?? '';
          if (letter === '-') return separator;
          return upper ? letter.toUpperCase() : letter.toLowerCase();
        })
        .join(''),
    );
}

const none: ReadonlySet<string> = new Set();
const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,24}$/);

describe('what a caller sends', () => {
  test('never takes the place of what the gateway says, however it is written', () => {
    const forged = fc.constantFrom(...OURS, ...HOP_BY_HOP).chain(disguised);
    fc.assert(
      fc.property(forged, fc.array(token), (name, listed) => {
        expect(forwardsRequestField(name, connectionOptions([listed.join(', ')]))).toBe(false);
      }),
    );
  });

  test('ends here where Connection names it, in any case, spacing and number of fields', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9-]{1,24}$/), fc.array(token), (name, others) => {
        const connection = [others.join(' ,'), `close,  ${name.toUpperCase()} ,x`];
        expect(forwardsRequestField(name, connectionOptions(connection))).toBe(false);
        expect(forwardsAnswerField(name, connectionOptions(connection))).toBe(false);
      }),
    );
  });

  test('says how its body is to be read as it was read here, whatever Connection names', () => {
    const ofBody = fc.constantFrom('Content-Type', 'Content-Encoding');
    fc.assert(
      fc.property(ofBody.chain(disguised), ofBody, (name, listed) => {
        const isSpelledSo = /^content-(?:type|encoding)$/i.test(name);
        expect(forwardsRequestField(name, connectionOptions([listed]))).toBe(isSpelledSo);
      }),
    );
  });

  test('goes on where nothing of that holds', () => {
    const name = fc.stringMatching(/^X-Custom-[A-Za-z0-9-]{0,12}$/);
    fc.assert(
      fc.property(name, (custom) => {
        expect(forwardsRequestField(custom, none)).toBe(true);
      }),
    );
    for (const common of [
      'Accept',
      'Accept-Encoding',
      'Content-Type',
      'User-Agent',
      'apollographql-client-name',
      'Apollo-Require-Preflight',
      'X-Amzn-Trace-Id',
      'X-Requested-With',
      'X-Hasura-Role',
    ]) {
      expect(forwardsRequestField(common, none)).toBe(true);
    }
  });
});

test('an answer keeps its end-to-end fields, and its connection stays out', () => {
  for (const name of HOP_BY_HOP) expect(forwardsAnswerField(name.toLowerCase(), none)).toBe(false);
  for (const name of ['content-encoding', 'content-type', 'cache-control', 'date', 'etag', 'vary']) {
    expect(forwardsAnswerField(name, none)).toBe(true);
  }
});
