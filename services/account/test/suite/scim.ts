import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { newOwner } from './console.ts';
import type { Owner } from './console.ts';
import { makeTeam } from './team.ts';

/** A team whose directory a suite plays. */
export type ProvisionedTeam = {
  manager: Owner;
  team_id: number;
  /** Proven by the team. */
  domain: string;
  token: string;
  /** `path` is below /scim/v2. */
  scim: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ScimAnswer>;
};

export type ScimAnswer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

type Suite = { account: Pick<ServiceProcess, 'publicUrl'>; database: Knex };

export async function provisionTeam(suite: Suite): Promise<ProvisionedTeam> {
  const manager = await newOwner(suite);
  const team_id = await makeTeam(manager);
  const domain = await addProvenDomain(suite, team_id);
  const token = await newScimToken(manager);
  return { manager, team_id, domain, token, scim: scimClient(suite, token) };
}

/** As DNS would have shown it; domains.test.ts has the proof itself. */
export async function addProvenDomain(
  { database }: Pick<Suite, 'database'>,
  team_id: number,
): Promise<string> {
  const domain = `company-${randomUUID()}.com`;
  const challenge = randomUUID().replaceAll('-', '');
  await database('team_domains').insert({
    team_id,
    domain,
    challenge,
    asked_at: new Date(),
    proven_at: new Date(),
  });
  return domain;
}

export async function newScimToken({ browser }: Pick<Owner, 'browser'>): Promise<string> {
  const { status, text, body } = await browser.request('POST', '/team/provisioning/tokens', {});
  if (status !== 201) throw new Error(`no token: ${text}`);
  return String(body['token']);
}

export function scimClient({ account }: Pick<Suite, 'account'>, token: string): ProvisionedTeam['scim'] {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${account.publicUrl}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
  };
}

const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** As Okta sends it. */
export function newUserBody({ domain }: Pick<ProvisionedTeam, 'domain'>, changes: object = {}) {
  const userName = `${randomUUID()}@${domain}`;
  return {
    schemas: [USER_SCHEMA],
    userName,
    name: { givenName: 'Grace', familyName: 'Hopper' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    externalId: randomUUID(),
    active: true,
    ...changes,
  };
}

export type MadeUser = { id: string; userName: string; account_id: number };

export async function makeUser(
  suite: Pick<Suite, 'database'>,
  team: ProvisionedTeam,
  changes: object = {},
): Promise<MadeUser> {
  const { status, text, body } = await team.scim('POST', '/Users', newUserBody(team, changes));
  if (status !== 201) throw new Error(`no user: ${text}`);
  const id = String(body['id']);
  const row = await suite
    .database('scim_users')
    .where({ scim_user_id: id })
    .first<{ account_id: number }>('account_id');
  return { id, userName: String(body['userName']), account_id: row.account_id };
}

export const patchBody = (...operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
});
