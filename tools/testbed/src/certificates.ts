import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type ServerCertificate = { key: string; cert: string; expiresAtSec: number };

export type CertificateAuthority = {
  /** For NODE_EXTRA_CA_CERTS. */
  file: string;
  /** A certificate of 127.0.0.1, or of another subjectAltName, valid for that many days. */
  issue: (days: number, subjectAltName?: string) => ServerCertificate;
  remove: () => void;
};

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** A self-signed certificate authority, made by openssl. */
export function createCertificateAuthority(): CertificateAuthority {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-certificates-'));
  const path = (name: string) => join(directory, name);
  const openssl = (args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const authority = ['-days', '30', '-subj', '/CN=Authority of the suites'];
  openssl(['req', '-x509', ...KEY, ...authority, '-keyout', path('ca.key'), '-out', path('ca.pem')]);
  return {
    file: path('ca.pem'),
    issue: (days, subjectAltName = 'IP:127.0.0.1') => {
      writeFileSync(path('extensions'), `subjectAltName=${subjectAltName}\n`);
      const request = ['-subj', '/CN=127.0.0.1', '-keyout', path('key'), '-out', path('request')];
      openssl(['req', '-new', ...KEY, ...request]);
      const signing = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-extfile', path('extensions')];
      const lifetime = ['-days', String(days)];
      openssl(['x509', '-req', '-in', path('request'), ...signing, ...lifetime, '-out', path('cert')]);
      const cert = readFileSync(path('cert'), 'utf8');
      return {
        key: readFileSync(path('key'), 'utf8'),
        cert,
        expiresAtSec: Date.parse(new X509Certificate(cert).validTo) / 1_000,
      };
    },
    remove: () => {
      rmSync(directory, { recursive: true });
    },
  };
}
