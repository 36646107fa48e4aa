import { expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import type { ServerCertificate } from '@tollgate/testbed/certificates';
import { startPostgres } from '@tollgate/testbed/postgres';
import { openSuiteDatabase, startAccount } from './suite/account-under-test.ts';
import { accountMetric } from './suite/metrics.ts';

/** Has the server write the files itself: it reads a key only if it owns it. */
async function useTls(database: Knex, { key, cert }: ServerCertificate): Promise<void> {
  for (const [name, text] of Object.entries({ 'server.key': key, 'server.crt': cert })) {
    await database.raw(
      `COPY (SELECT unnest(string_to_array('${text.trim()}', chr(10)))) TO PROGRAM 'umask 077; cat > ${name}'`,
    );
  }
  await database.raw('ALTER SYSTEM SET ssl = on');
  await database.raw('SELECT pg_reload_conf()');
}

test('account serves the expiry of Postgres’ certificate, and nothing where there is no TLS', async () => {
  const authority = createCertificateAuthority();
  const postgres = await startPostgres();
  const database = openSuiteDatabase(postgres.url);
  const url = new URL(postgres.url);
  const expiryIn = (account: { privateUrl: string }) =>
    accountMetric(account, 'tollgate_tls_certificate_expiry_timestamp_seconds');
  try {
    const plain = await startAccount({ databaseUrl: postgres.url });
    expect(await expiryIn(plain.account)).toBe(0);
    await plain.close();

    const certificate = authority.issue(20);
    await useTls(database, certificate);
    url.search = 'sslmode=verify-full';
    const encrypted = await startAccount({
      databaseUrl: postgres.url,
      settings: { DATABASE_URL: url.href, DATABASE_TLS_CA_FILE: authority.file },
    });
    expect(await expiryIn(encrypted.account)).toBe(certificate.expiresAtSec);
    await encrypted.close();
  } finally {
    await database.destroy();
    await postgres.stop();
    authority.remove();
  }
}, 120_000);
