import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { readConfig } from '@tollgate/config';
import { httpUrl, serviceCredentials } from '@tollgate/config/settings';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { usageFault } from './failures.ts';

/** Where the operators' API is, and who asks. */
export type Connection = {
  /** Base URL of account's private listener. */
  url: string;
  authorization: string;
  /** The same of a system that reports usage. */
  reporter: string | undefined;
  /** The stack of `npm start` that the address was taken from, with its sample account's sign-in. */
  local: LocalStack | undefined;
};

const credentialMembers = { client_id: z.string(), client_secret: z.string() };

/** The part of `.tollgate/demo.json` that is used here. */
const localStackSchema = z.object({
  account_id: z.int(),
  member: z.object({ account_id: z.int() }),
  console: z.object({ url: z.string(), email: z.string(), password: z.string() }),
  private: z.object({
    account_url: httpUrl,
    gateway_url: httpUrl.optional(),
    ...credentialMembers,
    usage_reporter: z.object(credentialMembers).optional(),
  }),
});

export type LocalStack = z.output<typeof localStackSchema>;

const settingsSchema = z.object({
  /** Base URL of account's private listener. */
  TOLLGATE_URL: httpUrl.optional(),
  /** `id:secret`, or several of them, of which the first is used. */
  TOLLGATE_CREDENTIAL: serviceCredentials.optional(),
  /** The same of USAGE_REPORTER_CREDENTIALS, for `seed` alone. */
  TOLLGATE_REPORTER_CREDENTIAL: serviceCredentials.optional(),
  /** Where `npm start` keeps its state. */
  TOLLGATE_DIR: z.string().optional(),
});

/**
 * The address and the credential of the options, else of the environment; where neither is given, those of the
 * stack that `npm start` runs in this folder or one above. They are taken together: the credential of a local
 * stack is never sent to an address that was given, nor another credential to a local stack unasked.
 *
 * @throws {Failure} usage
 */
export function connectionFrom(
  given: { url?: string | undefined; credentialFile?: string | undefined },
  env: Readonly<Record<string, string | undefined>> = process.env,
): Connection {
  const settings = readConfig(settingsSchema, withOptions(given, env));
  const { TOLLGATE_URL: url, TOLLGATE_CREDENTIAL: credentials } = settings;
  const [credential] = credentials ?? [];
  if (url === undefined && credential === undefined) return localConnection(settings.TOLLGATE_DIR);
  if (url === undefined) throw usageFault('A credential is set but no address. Set TOLLGATE_URL or --url.');
  if (credential === undefined) {
    throw usageFault(
      'An address is set but no credential. Set TOLLGATE_CREDENTIAL, TOLLGATE_CREDENTIAL_FILE or --credential-file.',
    );
  }
  const [reporter] = settings.TOLLGATE_REPORTER_CREDENTIAL ?? [];
  return {
    url,
    authorization: basicAuthorization(credential),
    reporter: reporter === undefined ? undefined : basicAuthorization(reporter),
    local: undefined,
  };
}

function withOptions(
  { url, credentialFile }: { url?: string | undefined; credentialFile?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
) {
  return {
    ...env,
    ...(url === undefined ? {} : { TOLLGATE_URL: url, TOLLGATE_URL_FILE: undefined }),
    ...(credentialFile === undefined
      ? {}
      : { TOLLGATE_CREDENTIAL: undefined, TOLLGATE_CREDENTIAL_FILE: credentialFile }),
  };
}

function localConnection(directory: string | undefined): Connection {
  const file = directory === undefined ? findUpwards('.tollgate/demo.json') : join(directory, 'demo.json');
  const local = file === undefined ? undefined : readLocalStack(file);
  if (local === undefined) {
    throw usageFault(
      'No stack is running here. Run npm start, or set TOLLGATE_URL (account’s private listener) and TOLLGATE_CREDENTIAL (id:secret).',
    );
  }
  const { account_url: url, usage_reporter, ...operator } = local.private;
  return {
    url,
    authorization: authorizationOf(operator),
    reporter: usage_reporter === undefined ? undefined : authorizationOf(usage_reporter),
    local,
  };
}

function authorizationOf({
  client_id: id,
  client_secret: secret,
}: {
  client_id: string;
  client_secret: string;
}) {
  return basicAuthorization({ id, secret });
}

function readLocalStack(file: string): LocalStack | undefined {
  if (!existsSync(file)) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw usageFault(`${file} cannot be read.`);
  }
  const parsed = localStackSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw usageFault(`${file} was not written by npm start.`);
}

function findUpwards(name: string): string | undefined {
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const file = resolve(folder, name);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}
