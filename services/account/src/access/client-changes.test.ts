import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { pepperSetting } from '@tollgate/credentials/client-secret';
import { createDatabase } from '@tollgate/testbed/database';
import { clientSecretPeppers, tokenSealingKeys } from '@tollgate/testbed/service-process';
import { openSuiteDatabase } from '../../test/suite/account-under-test.ts';
import { insertAccount } from '../../test/suite/database/records.ts';
import { createTransact } from '../platform/database/query.ts';
import type { Query } from '../platform/database/query.ts';
import { changeOf } from './client-changes/store.ts';
import type { NewClientChange } from './client-changes/store.ts';
import { sealingKeysSetting } from '../platform/sealing/sealing.ts';
import {
  changeApplication,
  createApplication,
  deleteApplication,
  revokeApplication,
  rotateSecret,
  takeOverRevocation,
} from './applications/changes.ts';
import type { ApplicationKey } from './applications/application.ts';
import { issueToken, revokeToken } from './tokens/changes.ts';

const by = { actor: 'suite', address: 'none', request_id: 'none' };
const peppers = pepperSetting.parse(clientSecretPeppers);
const tokenSettings = {
  tokenPrefix: 'tg',
  sealingKeys: sealingKeysSetting.parse(tokenSealingKeys),
  maxTokensPerApplication: 100,
};

let own: Awaited<ReturnType<typeof createDatabase>>;
let database: Knex;

beforeAll(async () => {
  own = await createDatabase();
  database = openSuiteDatabase(own.url);
});

afterAll(async () => {
  await database.destroy();
  await own.drop();
});

type Client = { key: ApplicationKey; client_id: string };
type Change = (query: Query, client: Client) => Promise<NewClientChange | null | undefined>;

const changes: Record<string, Change> = {
  rename: async (query, { key }) =>
    (await changeApplication(query, key, { name: crypto.randomUUID() }, by)).pending,
  'change the lifespan': async (query, { key }) =>
    (await changeApplication(query, key, { token_lifespan_sec: Date.now() % 1_000_000 }, by)).pending,
  'rotate the secret': async (query, { key }) =>
    (await rotateSecret(query, { ...key, overlapSec: 0 }, peppers, by)).pending,
  'issue a token': async (query, { key }) =>
    (await issueToken(query, { ...key, name: 'Token' }, tokenSettings, by)).pending,
  'revoke a token': async (query, { key }) => {
    const [token] = await liveTokens(query, key);
    return token && (await revokeToken(query, { ...key, ...token }, by)).pending;
  },
  revoke: async (query, { key }) => (await revokeApplication(query, key, by)).pending,
  'take a lost revocation over': async (query, { client_id, key }) =>
    (await takeOverRevocation(query, { client_id, revocation_epoch: (await epochOf(query, key)) + 2 }, by))
      ?.pending,
  delete: (query, { key }) => deleteApplication(query, key, by),
};

async function epochOf(query: Query, { application_id }: ApplicationKey): Promise<number> {
  const rows = await query<{ revocation_epoch: number }>(
    'SELECT revocation_epoch FROM applications WHERE application_id = :application_id',
    { application_id },
  );
  return rows[0]?.revocation_epoch ?? 0;
}

/** What auth accepts: tokens that are neither revoked nor below their application's epoch. */
function liveTokens(query: Query, { application_id }: ApplicationKey) {
  return query<{ token_id: number; token_hash: string; revocation_epoch: number }>(
    `SELECT token_id, token_hash, access_tokens.revocation_epoch FROM access_tokens
     JOIN applications USING (application_id)
     WHERE application_id = :application_id AND revoked_at IS NULL
       AND access_tokens.revocation_epoch >= applications.revocation_epoch
     ORDER BY token_id`,
    { application_id },
  );
}

/** Returns what the change ended; undefined if it was refused. */
async function made(query: Query, change: Change, client: Client) {
  const [before, epochBefore] = [await liveTokens(query, client.key), await epochOf(query, client.key)];
  const pending = await change(query, client);
  const after = new Set((await liveTokens(query, client.key)).map(({ token_id }) => token_id));
  return {
    pending,
    ended: before.filter(({ token_id }) => !after.has(token_id)),
    isEpochRaised: (await epochOf(query, client.key)) > epochBefore,
  };
}

/** In an order in which each has something to change. */
const EACH_ONCE = [
  'rename',
  'change the lifespan',
  'issue a token',
  'revoke a token',
  'rotate the secret',
  'revoke',
  'take a lost revocation over',
  'delete',
];

test('whatever ends a token is sent as that, and its message names every token that it ends', async () => {
  const transact = createTransact(database);
  const account_id = await insertAccount(database);
  const settings = { peppers, maxApplicationsPerAccount: 1_000 };
  const seen = new Set<string>();
  const sequence = fc.array(fc.constantFrom(...Object.keys(changes)), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sequence, async (names) => {
      const wanted = { account_id, name: 'App', type: 'manual' as const, token_lifespan_sec: 3_600 };
      const { application } = await transact((query) => createApplication(query, wanted, settings, by));
      const client = { ...application, key: { application_id: application.application_id, owner_id: null } };
      for (const name of names) {
        const outcome = await transact((query) => made(query, changes[name] as Change, client)).catch(
          refused,
        );
        if (outcome === undefined) continue;
        const { pending, ended, isEpochRaised } = outcome;
        const endsTokens = ended.length > 0 || isEpochRaised;
        expect([name, pending?.endsTokens ?? false]).toEqual([name, endsTokens]);
        if (pending === null || pending === undefined) continue;
        seen.add(name);
        const message = changeOf(pending);
        for (const { token_hash, revocation_epoch } of ended) {
          const isNamed = message.change === 'token' && message.token_hash === token_hash;
          expect([name, isNamed || revocation_epoch < message.revocation_epoch]).toEqual([name, true]);
        }
      }
    }),
    { numRuns: 60, examples: [[EACH_ONCE]] },
  );
  expect(seen).toEqual(new Set(Object.keys(changes)));
});

/** A revoked application gets no token, a deleted one nothing. */
function refused(error: unknown): undefined {
  expect(error).toMatchObject({
    code: expect.stringMatching(/^(?:not_found|application_revoked|token_limit_reached)$/),
  });
}
