import { X509Certificate, createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import type { RedisTls } from '@tollgate/redis';

/** The same for Postgres. */
export type StoreTls = RedisTls;

const certificates = z
  .string()
  .refine((pem) => parses(() => new X509Certificate(pem)), 'must be certificates in PEM format')
  .meta({ values: 'PEM' });

const privateKey = z
  .string()
  .refine(
    (pem) => parses(() => createPrivateKey(pem)),
    'must be a private key in PEM format, without a passphrase',
  )
  .meta({ values: 'PEM, without a passphrase', isSecret: true });

const serverName = z.string().regex(/^[A-Za-z0-9._:-]{1,253}$/, 'must be a host name or an IP address');

export const databaseTlsSettings = {
  DATABASE_TLS_CA: certificates
    .optional()
    .meta({ description: 'certificate authorities', unset: 'those that Node.js trusts' }),
  DATABASE_TLS_CERTIFICATE: certificates.optional().describe("this process' certificate, with its chain"),
  DATABASE_TLS_KEY: privateKey.optional().describe("the certificate's private key"),
  DATABASE_TLS_SERVER_NAME: serverName.optional().meta({
    description: "the name that the server's certificate must have",
    unset: 'the host of the URL',
  }),
};

export const redisTlsSettings = {
  REDIS_TLS_CA: certificates
    .optional()
    .meta({ description: 'certificate authorities', unset: 'those that Node.js trusts' }),
  REDIS_TLS_CERTIFICATE: certificates.optional().describe("this process' certificate, with its chain"),
  REDIS_TLS_KEY: privateKey.optional().describe("the certificate's private key"),
  REDIS_TLS_SERVER_NAME: serverName.optional().meta({
    description: "the name that the server's certificate must have",
    unset: 'the host of the URL',
  }),
};

type DatabaseTlsSettings = z.output<z.ZodObject<typeof databaseTlsSettings>>;
type RedisTlsSettings = z.output<z.ZodObject<typeof redisTlsSettings>>;

export function databaseTls(settings: DatabaseTlsSettings): StoreTls {
  return {
    ca: settings.DATABASE_TLS_CA,
    cert: settings.DATABASE_TLS_CERTIFICATE,
    key: settings.DATABASE_TLS_KEY,
    serverName: settings.DATABASE_TLS_SERVER_NAME,
  };
}

export function redisTls(settings: RedisTlsSettings): RedisTls {
  return {
    ca: settings.REDIS_TLS_CA,
    cert: settings.REDIS_TLS_CERTIFICATE,
    key: settings.REDIS_TLS_KEY,
    serverName: settings.REDIS_TLS_SERVER_NAME,
  };
}

/** Refuses a certificate without its key, and settings that a connection without TLS would ignore. */
export function checkRedisTls(
  settings: RedisTlsSettings & { REDIS_URL: string },
  context: z.core.$RefinementCtx,
): void {
  const isTls = settings.REDIS_URL.startsWith('rediss');
  checkTls(
    'REDIS',
    redisTls(settings),
    isTls ? undefined : 'needs a REDIS_URL with TLS, as rediss://',
    context,
  );
}

/** The same for Postgres, where the settings alone turn TLS on. */
export function checkDatabaseTls(
  settings: DatabaseTlsSettings & { DATABASE_URL: string },
  context: z.core.$RefinementCtx,
): void {
  const isOff = new URLSearchParams(settings.DATABASE_URL.split('?')[1]).get('sslmode') === 'disable';
  const fault = isOff ? 'needs a DATABASE_URL without sslmode=disable' : undefined;
  checkTls('DATABASE', databaseTls(settings), fault, context);
}

function checkTls(
  store: 'DATABASE' | 'REDIS',
  { ca, cert, key, serverName: name }: StoreTls,
  fault: string | undefined,
  context: z.core.$RefinementCtx,
): void {
  const settings = { CA: ca, CERTIFICATE: cert, KEY: key, SERVER_NAME: name };
  const add = (part: string, message: string) => {
    context.addIssue({ code: 'custom', path: [`${store}_TLS_${part}`], message });
  };
  if (fault !== undefined) {
    for (const [part, value] of Object.entries(settings)) if (value !== undefined) add(part, fault);
  }
  if (cert !== undefined && key === undefined) add('CERTIFICATE', `needs ${store}_TLS_KEY`);
  if (key !== undefined && cert === undefined) add('KEY', `needs ${store}_TLS_CERTIFICATE`);
}

function parses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
