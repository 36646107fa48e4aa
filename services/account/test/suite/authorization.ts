import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { newOwner } from './console.ts';
import type { Owner } from './console.ts';
import type { AccountUnderTest } from './account-under-test.ts';
import type { Browser } from './people.ts';

type Listening = Pick<ServiceProcess, 'publicUrl'>;

/** An application that acts for other people, with one of its developer's addresses. */
export type ActingApplication = {
  application_id: number;
  path: string;
  client_id: string;
  /** Null of a public client. */
  client_secret: string | null;
  redirect_uri: string;
  developer: Owner;
};

/** A directory for CONSOLE_DIR, so that account has pages for requests that can't be answered by a redirect. */
export function makePages(): { directory: string; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-pages-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), '<!doctype html><head><title>Tollgate</title></head>');
  writeFileSync(join(directory, 'preloads.json'), '{}');
  return {
    directory,
    remove: () => {
      rmSync(directory, { recursive: true });
    },
  };
}

const CALLBACK = 'https://app.example/callback?from=tollgate';

export async function newActingApplication(
  suite: Pick<AccountUnderTest, 'account' | 'database'>,
  changes: {
    public_client?: boolean;
    redirect_uris?: string[];
    token_lifespan_sec?: number;
    name?: string;
  } = {},
): Promise<ActingApplication> {
  const developer = await newOwner(suite);
  const { status, text, body } = await developer.browser.request('POST', '/applications', {
    name: 'Chart maker',
    type: 'authorization',
    token_lifespan_sec: 3_600,
    redirect_uris: [CALLBACK],
    ...changes,
  });
  if (status !== 201) throw new Error(`no application: ${text}`);
  const made = body as Pick<ActingApplication, 'application_id' | 'client_id' | 'client_secret'>;
  const redirect_uri = changes.redirect_uris?.[0] ?? CALLBACK;
  return { ...made, path: `/applications/${String(made.application_id)}`, redirect_uri, developer };
}

/** What people read of it now, which an operator verifies. */
export function verificationOf(
  { database }: Pick<AccountUnderTest, 'database'>,
  { application_id }: { application_id: number },
): Promise<unknown> {
  return database('applications')
    .leftJoin('accounts', 'accounts.account_id', 'applications.account_id')
    .where({ application_id })
    .first('applications.name', 'accounts.name as developer', 'redirect_uris');
}

export type Pkce = { verifier: string; challenge: string };

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export type AuthorizationParameters = Record<string, string>;

export function parametersOf(
  { client_id, redirect_uri }: Pick<ActingApplication, 'client_id' | 'redirect_uri'>,
  { challenge }: Pkce,
): AuthorizationParameters {
  return {
    response_type: 'code',
    client_id,
    redirect_uri,
    scope: 'api',
    state: randomUUID(),
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
}

/** Opens the address that the application sends the browser to. */
export function openAuthorize(
  account: Listening,
  parameters: AuthorizationParameters | string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
  return fetch(`${account.publicUrl}/oauth2/authorize?${query}`, { redirect: 'manual', headers });
}

/** The request's id, from the address of the consent page. */
export async function requestIdOf(response: Response): Promise<string> {
  const id = /\/user\/connect\/([A-Za-z0-9_-]{43})$/.exec(response.headers.get('location') ?? '')?.[1];
  if (response.status !== 303 || id === undefined) {
    throw new Error(`no consent page: ${String(response.status)} ${await response.text()}`);
  }
  return id;
}

/** The fields that the browser takes to the application. */
export async function answerRequest(
  browser: Browser,
  id: string,
  answer: 'allow' | 'deny' = 'allow',
): Promise<URL> {
  const { status, text, body } = await browser.request('POST', `/authorization-requests/${id}/${answer}`);
  if (status !== 200) throw new Error(`not answered: ${text}`);
  return new URL(String(body['redirect_to']));
}

export type Code = { code: string; verifier: string };

export async function obtainCode(
  account: Listening,
  application: Pick<ActingApplication, 'client_id' | 'redirect_uri'>,
  browser: Browser,
  changes: AuthorizationParameters = {},
): Promise<Code> {
  const pkce = newPkce();
  const opened = await openAuthorize(account, { ...parametersOf(application, pkce), ...changes });
  const to = await answerRequest(browser, await requestIdOf(opened));
  return { code: to.searchParams.get('code') ?? '', verifier: pkce.verifier };
}

export type TokenAnswer = {
  status: number;
  access_token: string;
  refresh_token: string;
  expires_in: number;
  error?: string;
  error_description?: string;
};

/** With the secret of a confidential client, and the ID of a public one. */
export async function askForTokens(
  auth: Listening,
  { client_id, client_secret }: Pick<ActingApplication, 'client_id' | 'client_secret'>,
  fields: Record<string, string>,
): Promise<TokenAnswer> {
  const response = await fetch(`${auth.publicUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id, ...(client_secret !== null && { client_secret }), ...fields }),
  });
  return { ...((await response.json()) as Omit<TokenAnswer, 'status'>), status: response.status };
}

export function exchange(
  auth: Listening,
  application: ActingApplication,
  { code, verifier }: Code,
  changes: Record<string, string> = {},
): Promise<TokenAnswer> {
  const { redirect_uri } = application;
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri,
    code_verifier: verifier,
    ...changes,
  };
  return askForTokens(auth, application, fields);
}

export function refresh(
  auth: Listening,
  application: ActingApplication,
  refresh_token: string,
  changes: Record<string, string> = {},
): Promise<TokenAnswer> {
  return askForTokens(auth, application, { grant_type: 'refresh_token', refresh_token, ...changes });
}

export async function connect(
  { account, auth }: Pick<AccountUnderTest, 'account' | 'auth'>,
  application: ActingApplication,
  browser: Browser,
): Promise<TokenAnswer> {
  const tokens = await exchange(auth, application, await obtainCode(account, application, browser));
  if (tokens.status !== 200) throw new Error(`no tokens: ${JSON.stringify(tokens)}`);
  return tokens;
}
