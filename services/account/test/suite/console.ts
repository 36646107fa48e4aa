import type { Knex } from 'knex';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { insertPerson, openSession } from './people.ts';
import type { Browser, Person } from './people.ts';

export type Owner = Person & { browser: Browser };

export async function newOwner({
  account,
  database,
}: {
  account: Pick<ServiceProcess, 'publicUrl'>;
  database: Knex;
}): Promise<Owner> {
  const person = await insertPerson(database);
  return { ...person, browser: await openSession(database, account, person) };
}

export const WANTED_APPLICATION = { name: 'App', type: 'automatic', token_lifespan_sec: 86_400 };

export type OwnApplication = {
  path: string;
  application_id: number;
  client_id: string;
  client_secret: string;
};

export async function makeOwnApplication(
  browser: Browser,
  changes: Partial<typeof WANTED_APPLICATION> = {},
): Promise<OwnApplication> {
  const wanted = { ...WANTED_APPLICATION, ...changes };
  const { status, text, body } = await browser.request('POST', '/applications', wanted);
  if (status !== 201) throw new Error(`no application: ${text}`);
  return { ...(body as OwnApplication), path: `/applications/${String(body['application_id'])}` };
}

export type OwnToken = { path: string; token_id: number; access_token: string; expires_at: string };

export async function issueOwnToken(
  browser: Browser,
  { path }: Pick<OwnApplication, 'path'>,
  name = 'Token',
): Promise<OwnToken> {
  const { status, text, body } = await browser.request('POST', `${path}/tokens`, { name });
  if (status !== 201) throw new Error(`no token: ${text}`);
  return { ...(body as OwnToken), path: `${path}/tokens/${String(body['token_id'])}` };
}
