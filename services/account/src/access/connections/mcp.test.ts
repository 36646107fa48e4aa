import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { usageResponseSchema } from '@tollgate/contracts/usage-response';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerRequest, newActingApplication, requestIdOf } from '../../../test/suite/authorization.ts';
import type { ActingApplication } from '../../../test/suite/authorization.ts';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { openPublicDoor } from '../../../test/suite/stand-ins/public-door.ts';
import type { PublicDoor } from '../../../test/suite/stand-ins/public-door.ts';

const REDIRECT_URI = 'http://127.0.0.1/callback';

let door: PublicDoor;
let person: Owner;
let application: ActingApplication;

beforeAll(async () => {
  door = await openPublicDoor();
  [person, application] = await Promise.all([
    newOwner(door.suite),
    newActingApplication(door.suite, { public_client: true, redirect_uris: [REDIRECT_URI] }),
  ]);
  await insertPeriod(door.suite.database, person.account_id);
});

afterAll(() => door.close());

type Kept = {
  address?: URL;
  verifier?: string;
  discovery?: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
};

/** What an agent brings: where it keeps things, and how it opens a browser. */
function providerOf(kept: Kept): OAuthClientProvider {
  return {
    redirectUrl: REDIRECT_URI,
    clientMetadata: { client_name: 'Agent', redirect_uris: [REDIRECT_URI] },
    clientInformation: () => ({ client_id: application.client_id, redirect_uris: [REDIRECT_URI] }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (address) => {
      kept.address = address;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
    saveDiscoveryState: (state) => {
      kept.discovery = state;
    },
    discoveryState: () => kept.discovery,
    invalidateCredentials: () => {
      delete kept.tokens;
    },
  };
}

const endpoint = () => new URL(`${door.url}/mcp`);
const about = { name: 'Agent', version: '1' };

type Result = { content: { text: string }[]; isError?: boolean };

test('an agent comes without a token, a person consents, and its tool calls are in the person’s usage', async () => {
  const kept: Kept = {};
  const authProvider = providerOf(kept);
  const first = new StreamableHTTPClientTransport(endpoint(), { authProvider });
  await expect(new Client(about).connect(first)).rejects.toThrow(UnauthorizedError);
  const { address } = kept;
  expect(Object.fromEntries(address?.searchParams ?? [])).toMatchObject({
    scope: 'mcp',
    resource: `${door.url}/mcp`,
    code_challenge_method: 'S256',
  });

  const id = await requestIdOf(await fetch(address ?? '', { redirect: 'manual' }));
  const asked = await person.browser.request('GET', `/authorization-requests/${id}`);
  expect(asked.body).toMatchObject({ scopes: ['mcp'] });
  const answered = await answerRequest(person.browser, id);
  await first.finishAuth(answered.searchParams);
  expect(kept.tokens).toMatchObject({ scope: 'mcp', token_type: 'bearer' });

  const client = new Client(about);
  await client.connect(new StreamableHTTPClientTransport(endpoint(), { authProvider }));
  const run = (name: string, args = {}) => client.callTool({ name, arguments: args }) as Promise<Result>;
  const found = await run('search_schema', { words: '' });
  expect(found.content[0]?.text).toContain('Query.');
  const ran = await run('run_query', { query: '{ __typename }' });
  expect(ran).toMatchObject({ content: [{ text: '{"data":{"__typename":"Query"}}' }, {}] });
  await waitFor(async () => {
    const { content } = await run('read_usage');
    const usage = usageResponseSchema.parse(JSON.parse(content[0]?.text ?? ''));
    return usage.billing_period.usage.requests_usage === 1;
  });

  // It refreshes by itself, and the person ends it.
  const refreshed = { ...kept.tokens, access_token: 'tg_expired' } as NonNullable<Kept['tokens']>;
  kept.tokens = refreshed;
  expect((await run('run_query', { query: '{ __typename }' })).isError).toBeUndefined();
  expect(kept.tokens.access_token).not.toBe('tg_expired');
  const { body } = await person.browser.request('GET', '/connections');
  const [connection] = body['connections'] as { connection_id: number }[];
  await person.browser.request('DELETE', `/connections/${String(connection?.connection_id)}`);
  await client.close();
  const again = new StreamableHTTPClientTransport(endpoint(), { authProvider });
  await expect(new Client(about).connect(again)).rejects.toThrow(UnauthorizedError);
});
