import { expect, test } from '@jest/globals';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import { startPostgres } from '@tollgate/testbed/postgres';
import { openSuiteDatabase, startAccount } from './suite/account-under-test.ts';
import { useTls } from './suite/database/server-tls.ts';
import { accountMetric } from './suite/metrics.ts';

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
});
