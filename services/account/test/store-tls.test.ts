import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import type { CertificateAuthority, ServerCertificate } from '@tollgate/testbed/certificates';
import { startPostgres } from '@tollgate/testbed/postgres';
import type { OwnPostgres } from '@tollgate/testbed/postgres';
import { startRedisProcess } from '@tollgate/testbed/redis';
import { openSuiteDatabase, startAccount } from './suite/account-under-test.ts';
import { demandTls, useTls } from './suite/database/server-tls.ts';
import { runProgram } from './suite/programs.ts';

/** A Postgres and a Redis with certificates of a private authority, which demand one of the client. */

let authority: CertificateAuthority;
let strangers: CertificateAuthority;
let client: ServerCertificate;
let postgres: OwnPostgres;
let demanding: URL;

beforeAll(async () => {
  authority = createCertificateAuthority();
  strangers = createCertificateAuthority();
  client = authority.issue(20);
  postgres = await startPostgres();
  demanding = new URL(postgres.url);
  demanding.username = 'tollgate';
  const database = openSuiteDatabase(postgres.url);
  await useTls(database, authority.issue(20, 'DNS:db.internal'));
  await demandTls(database, { role: 'tollgate', password: demanding.password, authority });
  await database.destroy();
});

afterAll(async () => {
  await postgres.stop();
  authority.remove();
  strangers.remove();
});

const withMode = (mode?: string) => `${demanding.href}${mode === undefined ? '' : `?sslmode=${mode}`}`;

const identity = () => ({ DATABASE_TLS_CERTIFICATE: client.cert, DATABASE_TLS_KEY: client.key });

describe('migrate', () => {
  const migrate = async (settings: Record<string, string>) => {
    const { code, stdout, stderr } = await runProgram('programs/migrate', settings);
    return { code, said: stdout + stderr };
  };

  test('connects with the private authority, its own certificate and the server’s name', async () => {
    const settings = {
      DATABASE_URL: withMode(),
      DATABASE_TLS_CA_FILE: authority.file,
      DATABASE_TLS_SERVER_NAME: 'db.internal',
      ...identity(),
    };
    expect(await migrate(settings)).toEqual({ code: 0, said: expect.stringContaining('nothing to migrate') });
    const without = { ...settings, DATABASE_TLS_CERTIFICATE: '', DATABASE_TLS_KEY: '' };
    expect(await migrate(without)).toEqual({
      code: 1,
      said: expect.stringContaining('connection requires a valid client certificate'),
    });
  });

  test.each([
    ['disable', {}, 'no encryption'],
    ['require', {}, /self-signed certificate|unable to (get|verify)/],
    ['verify-full', { DATABASE_TLS_CA_FILE: 'strangers' }, /self-signed certificate|unable to (get|verify)/],
    ['verify-full', { DATABASE_TLS_CA_FILE: 'own' }, "IP: 127.0.0.1 is not in the cert's list"],
  ])(
    'sslmode=%s with %j: %s',
    async (mode, { DATABASE_TLS_CA_FILE: file }: { DATABASE_TLS_CA_FILE?: string }, message) => {
      const { code, said } = await migrate({
        DATABASE_URL: withMode(mode),
        ...(file === undefined
          ? {}
          : { DATABASE_TLS_CA_FILE: (file === 'own' ? authority : strangers).file }),
        ...(mode === 'disable' ? {} : identity()),
      });
      expect(code).toBe(1);
      expect(said).toMatch(message);
    },
  );

  test.each([
    ['verify-ca', true],
    ['no-verify', false],
  ])('sslmode=%s asks for no name', async (mode, needsAuthority) => {
    const settings = {
      DATABASE_URL: withMode(mode),
      ...(needsAuthority ? { DATABASE_TLS_CA_FILE: authority.file } : {}),
      ...identity(),
    };
    expect((await migrate(settings)).code).toBe(0);
  });

  test('settings that would be ignored, or are half a pair, are refused by name', async () => {
    const { code, said } = await migrate({
      DATABASE_URL: withMode('disable'),
      DATABASE_TLS_CA_FILE: authority.file,
      DATABASE_TLS_KEY: client.key,
    });
    expect(code).toBe(1);
    expect(said).toContain('DATABASE_TLS_CA: needs a DATABASE_URL without sslmode=disable');
    expect(said).toContain('DATABASE_TLS_KEY: ');
    expect(said).not.toContain('PRIVATE KEY');
    expect((await migrate({ DATABASE_URL: withMode(), DATABASE_TLS_CA: 'no' })).said).toContain(
      'DATABASE_TLS_CA: must be certificates in PEM format',
    );
  });
});

test('account and auth use both stores with TLS, and so does the connection that hears notices', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-redis-tls-'));
  const server = authority.issue(20, 'DNS:redis.internal');
  writeFileSync(join(directory, 'key'), server.key);
  writeFileSync(join(directory, 'cert'), server.cert);
  const tlsPort = await freePort();
  // The suite's own connections go to the other port.
  const redis = await startRedisProcess({
    settings: () =>
      Promise.resolve([
        `tls-port ${String(tlsPort)}`,
        `tls-cert-file ${join(directory, 'cert')}`,
        `tls-key-file ${join(directory, 'key')}`,
        `tls-ca-cert-file ${authority.file}`,
        'tls-auth-clients yes',
      ]),
  });
  const url = new URL(redis.url.replace('redis:', 'rediss:'));
  url.port = String(tlsPort);
  const redisSettings = {
    REDIS_URL: url.href,
    REDIS_TLS_CA_FILE: authority.file,
    REDIS_TLS_CERTIFICATE: client.cert,
    REDIS_TLS_KEY: client.key,
    REDIS_TLS_SERVER_NAME: 'redis.internal',
  };
  const suite = await startAccount({
    databaseUrl: postgres.url,
    redis,
    settings: {
      ...redisSettings,
      ...identity(),
      DATABASE_URL: withMode('verify-full'),
      DATABASE_TLS_CA_FILE: authority.file,
      DATABASE_TLS_SERVER_NAME: 'db.internal',
    },
    authSettings: redisSettings,
  });
  const sessions = async () => {
    const { rows } = await suite.database.raw<{ rows: { application_name: string; ssl: boolean }[] }>(
      "SELECT application_name, ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'tollgate'",
    );
    return rows;
  };
  await waitFor(async () =>
    (await sessions()).some(({ application_name }) => application_name === 'tollgate listens'),
  );
  expect((await sessions()).filter(({ ssl }) => !ssl)).toEqual([]);
  await suite.close();
  await redis.stop();
  rmSync(directory, { recursive: true });
});
