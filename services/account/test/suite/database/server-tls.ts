import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';
import type { CertificateAuthority, ServerCertificate } from '@tollgate/testbed/certificates';

/** Has the server write the files itself: it reads a key only if it owns it. */
async function writeFiles(database: Knex, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await database.raw(
      `COPY (SELECT unnest(string_to_array('${text.trim()}', chr(10)))) TO PROGRAM 'umask 077; cat > ${name}'`,
    );
  }
}

/** Turns TLS on for those who ask for it. */
export async function useTls(database: Knex, { key, cert }: ServerCertificate): Promise<void> {
  await writeFiles(database, { 'server.key': key, 'server.crt': cert });
  await database.raw('ALTER SYSTEM SET ssl = on');
  await database.raw('SELECT pg_reload_conf()');
}

/** The superuser `role` gets in with TLS and a certificate of the authority only. Others go on as before. */
export async function demandTls(
  database: Knex,
  { role, password, authority }: { role: string; password: string; authority: CertificateAuthority },
): Promise<void> {
  await database.raw(`CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD '${password}'`);
  await writeFiles(database, {
    'ca.crt': readFileSync(authority.file, 'utf8'),
    'pg_hba.conf': [
      `hostssl all ${role} 127.0.0.1/32 scram-sha-256 clientcert=verify-ca`,
      `hostnossl all ${role} 127.0.0.1/32 reject`,
      'host all all 127.0.0.1/32 scram-sha-256',
    ].join('\n'),
  });
  await database.raw("ALTER SYSTEM SET ssl_ca_file = 'ca.crt'");
  await database.raw('SELECT pg_reload_conf()');
}
