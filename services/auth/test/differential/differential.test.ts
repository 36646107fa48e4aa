import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { addClient, startAuth } from '../suite/auth-under-test.ts';
import type { AuthUnderTest } from '../suite/auth-under-test.ts';
import { obtainToken, postToken, tokenForm } from '../suite/requests.ts';
import { introspectionDifferences } from './accepted/introspection.ts';
import { revocationDifferences } from './accepted/revocation.ts';
import { tokenDifferences } from './accepted/token.ts';
import { basicCases } from './corpus/basic.ts';
import { CLIENT } from './corpus/corpus.ts';
import type { Case, PlaceholderToken } from './corpus/corpus.ts';
import { formCases } from './corpus/form.ts';
import { introspectionCases } from './corpus/introspection.ts';
import { revocationCases } from './corpus/revocation.ts';
import { transportCases } from './corpus/transport.ts';
import { addKnownClient } from './known-client.ts';
import { exchange, summary } from './raw-request.ts';
import type { RawRequest } from './raw-request.ts';
import { LIFESPAN_HEADER, startReferenceProvider } from './reference-provider.ts';
import type { ReferenceClient, ReferenceProvider } from './reference-provider.ts';

const acceptedDifferences = [...tokenDifferences, ...introspectionDifferences, ...revocationDifferences];

const corpus = [...formCases, ...basicCases, ...transportCases, ...introspectionCases, ...revocationCases];

/** A server with its addresses, and with tokens of its own. */
type Side = Record<Case['endpoint'], string> & { tokens: Record<PlaceholderToken, string> };

let auth: AuthUnderTest;
let reference: ReferenceProvider;
let ours: Side;
let theirs: Side;

beforeAll(async () => {
  // oidc-provider speaks of its in-memory adapter and its defaults, which are what the suite wants.
  for (const level of ['warn', 'info'] as const) jest.spyOn(console, level).mockReturnValue();
  const other = { client_id: 'other', client_secret: 'another-secret' };
  const service = { client_id: serviceCredential.id, client_secret: serviceCredential.secret };
  [auth, reference] = await Promise.all([
    // Each request is to be judged for itself, however many of them failed before.
    startAuth({
      FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: '1000000',
      FAILED_ATTEMPTS_PER_ADDRESS: '1000000',
    }),
    startReferenceProvider([CLIENT, other, service]),
  ]);
  addKnownClient(auth.account, CLIENT.client_secret, CLIENT.client_id);
  ours = await ourSide();
  theirs = await theirSide(other);
});

afterAll(async () => {
  await Promise.all([auth.close(), reference.close()]);
});

async function ourSide(): Promise<Side> {
  const { publicUrl, privateUrl } = auth.service;
  const expired = await obtainToken(auth.service, CLIENT);
  const [key = ''] = await auth.store.keys(`*${accessTokenHash(expired)}*`);
  const record = JSON.parse((await auth.store.get(key)) ?? '') as object;
  await auth.store.set(key, JSON.stringify({ ...record, exp: Math.floor(Date.now() / 1000) - 1 }));
  const tokens = { ...(await liveTokens(publicUrl, addClient(auth.account))), expired };
  return { token: publicUrl, introspect: privateUrl, revoke: publicUrl, tokens };
}

async function theirSide(other: ReferenceClient): Promise<Side> {
  const { url } = reference;
  const issued = await postToken({ publicUrl: url }, tokenForm(CLIENT), { [LIFESPAN_HEADER]: '1' });
  const { access_token: expired } = (await issued.json()) as { access_token: string };
  const tokens = { ...(await liveTokens(url, other)), expired };
  const side = { token: url, introspect: url, revoke: url, tokens };
  const question = introspectionCases.find(({ request }) => request.body === 'token={expired}');
  await waitFor(async () => question && (await answer(side, question)) === '200 inactive');
  return side;
}

async function liveTokens(publicUrl: string, other: ReferenceClient) {
  return {
    live: await obtainToken({ publicUrl }, CLIENT),
    doomed: await obtainToken({ publicUrl }, CLIENT),
    others: await obtainToken({ publicUrl }, other),
  };
}

function answer(side: Side, { endpoint, request }: Case): Promise<string> {
  return exchange(side[endpoint], forSide(side, request)).then(summary);
}

function forSide({ tokens }: Side, request: RawRequest): RawRequest {
  const fill = (text: string) =>
    Object.entries(tokens).reduce((filled, [name, token]) => filled.replaceAll(`{${name}}`, token), text);
  return {
    ...request,
    target: fill(request.target),
    headers: request.headers.map(([name, value]) => [name, fill(value)]),
    body: fill(request.body),
  };
}

test('the corpus has at least 80 requests, each under a name of its own', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(80);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
});

test('every difference from the reference provider is listed, and every listed one still occurs', async () => {
  const differences: Record<string, { ours: string; theirs: string }> = {};
  for (const request of corpus) {
    const pair = { ours: await answer(ours, request), theirs: await answer(theirs, request) };
    if (pair.ours !== pair.theirs) differences[request.name] = pair;
  }
  const listed = acceptedDifferences.flatMap(({ requests, ours, theirs }) =>
    requests.map((name) => [name, { ours, theirs }] as const),
  );
  expect(differences).toEqual(Object.fromEntries(listed));
});
