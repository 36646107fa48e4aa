import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { passedOn } from '@tollgate/trace/context';
import { callersFields, gatewayFields } from './request-fields.ts';

const callerIds = { accountId: 7, payerId: 8, applicationId: 9 };
const requestId = 'ab'.repeat(16);

function fieldsFor(rawHeaders: string[], remoteAddress = '192.0.2.1'): Map<string, string[]> {
  const flat = [
    ...callersFields({ rawHeaders, httpVersion: '1.1', socket: { remoteAddress } }, false),
    ...gatewayFields(callerIds, requestId, passedOn(null, requestId)),
  ];
  const fields = new Map<string, string[]>();
  for (let index = 0; index < flat.length; index += 2) {
    const name = (flat[index] ?? '').toLowerCase();
    fields.set(name, [...(fields.get(name) ?? []), flat[index + 1] ?? '']);
  }
  return fields;
}

const OWN = {
  'x-account-id': ['7'],
  'x-payer-id': ['8'],
  'x-application-id': ['9'],
  'x-request-id': [requestId],
  traceparent: [`00-${requestId}-${'ab'.repeat(8)}-00`],
  'x-forwarded-for': ['192.0.2.1'],
  'x-forwarded-proto': ['http'],
};

test('whatever a caller sends and names in Connection, the upstream hears who calls from the gateway alone', () => {
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(OWN), 'Connection', 'Authorization', 'Cookie', 'X-Custom'),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,16}$/),
  );
  const value = fc.oneof(
    fc.constantFrom(...Object.keys(OWN), Object.keys(OWN).join(', ')),
    fc.stringMatching(/^[ -~]{0,24}$/),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 12 }), (pairs) => {
      const fields = fieldsFor(pairs.flat());
      for (const [own, expected] of Object.entries(OWN)) expect(fields.get(own)).toEqual(expected);
      expect(fields.has('authorization')).toBe(false);
      expect(fields.has('cookie')).toBe(false);
    }),
  );
});

test('repeated fields of a caller stay apart and in order', () => {
  expect(fieldsFor(['X-A', '1', 'X-B', '2', 'x-a', '3']).get('x-a')).toEqual(['1', '3']);
});

test('Via grows by one, X-Forwarded-Host is what the caller asked for', () => {
  const fields = fieldsFor([
    'Host',
    'api.example.org',
    'Via',
    '1.0 one, 1.1 two',
    'X-Forwarded-Host',
    'evil',
  ]);
  expect(fields.get('via')).toEqual(['1.0 one, 1.1 two, 1.1 tollgate']);
  expect(fields.get('x-forwarded-host')).toEqual(['api.example.org']);
});

test('an IPv4 caller of a dual-stack listener keeps its own address', () => {
  expect(fieldsFor([], '::ffff:192.0.2.7').get('x-forwarded-for')).toEqual(['192.0.2.7']);
});
