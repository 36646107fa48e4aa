import { expect, test } from '@jest/globals';
import { parseDatabaseUrl } from './database-url.ts';

const PLAIN = {
  endpoints: [{ host: 'db', port: 5_432 }],
  user: undefined,
  password: undefined,
  database: undefined,
  tlsMode: undefined,
  tlsAtOnce: false,
  mustTakeWrites: false,
  applicationName: undefined,
  options: undefined,
};

test('one host, with what belongs to it', () => {
  expect(parseDatabaseUrl('postgres://db')).toEqual(PLAIN);
  expect(parseDatabaseUrl('postgresql://u%40x:p%2F:q@[::1]:6543/my%20db')).toEqual({
    ...PLAIN,
    endpoints: [{ host: '::1', port: 6_543 }],
    user: 'u@x',
    password: 'p/:q',
    database: 'my db',
  });
});

test('of several hosts, one must take writes', () => {
  expect(parseDatabaseUrl('postgres://u:p@Db-1.example:1,10.0.0.2,[::1]:3/t')).toMatchObject({
    endpoints: [
      { host: 'Db-1.example', port: 1 },
      { host: '10.0.0.2', port: 5_432 },
      { host: '::1', port: 3 },
    ],
    mustTakeWrites: true,
  });
  for (const wanted of ['read-write', 'primary']) {
    expect(parseDatabaseUrl(`postgres://db/t?target_session_attrs=${wanted}`).mustTakeWrites).toBe(true);
  }
});

test('parameters', () => {
  expect(
    parseDatabaseUrl(
      'postgres://db/t?sslmode=verify-ca&sslnegotiation=direct&application_name=a%20b&options=-c%20work_mem%3D5MB',
    ),
  ).toMatchObject({
    tlsMode: 'verify-ca',
    tlsAtOnce: true,
    applicationName: 'a b',
    options: '-c work_mem=5MB',
  });
  // Unlike libpq's: no mode with TLS trusts any server, unless it says so.
  expect(parseDatabaseUrl('postgres://db?sslmode=require').tlsMode).toBe('verify-full');
});

test.each([
  ['mysql://root:hunter2@db/x', 'must be a URL that starts with postgres:// or postgresql://'],
  ['postgres:///db', 'must be a URL'],
  ['postgres://u:hunter2@a,,b/x', 'must name its hosts'],
  ['postgres://u:hunter2@a:99999/x', 'must name its hosts'],
  ['postgres://u:hunter2@a b/x', 'must name its hosts'],
  ['postgres://u:hunter2%@a/x', 'must have its user, password and database percent-encoded'],
  [
    'postgres://a/x?sslmode=prefer',
    'must have disable, no-verify, verify-ca, require, verify-full as its parameter sslmode',
  ],
  [
    'postgres://a,b/x?target_session_attrs=standby',
    'must have read-write, primary as its parameter target_session_attrs',
  ],
  [
    'postgres://a/x?sslrootcert=/hunter2',
    'must not have the parameter sslrootcert: set DATABASE_TLS_CA_FILE instead',
  ],
  ['postgres://a/x?hunter2=1', 'must have no parameters but sslmode,'],
  ['postgres://a/x?sslnegotiation=direct', 'must have an sslmode with TLS'],
])('%s is refused, by words that hold nothing of it', (url, message) => {
  expect(() => parseDatabaseUrl(url)).toThrow(message);
  expect(() => parseDatabaseUrl(url)).not.toThrow(/hunter2/);
});
