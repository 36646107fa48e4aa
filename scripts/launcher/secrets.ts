import { existsSync } from 'node:fs';
import { randomBytes, randomUUID } from 'node:crypto';
import { readJson, writePrivateFile } from './state.ts';
import type { StatePaths } from './state.ts';

/** A sample person and application, as the account service's seed takes them. */
export type SamplePerson = {
  email: string;
  name: string;
  password: string;
  application: { name: string; client_id: string; client_secret: string };
};

/** Made at the first start and kept with the data that they belong to. */
export type Secrets = {
  postgres_password: string;
  redis_password: string;
  peppers: string;
  credentials: { gateway: string; account: string; auth: string; operator: string };
  manager: SamplePerson;
  member: SamplePerson;
};

/**
 * The stack's secrets, made at the first start.
 *
 * @throws {Error} when there is data and they can't be read: new secrets would not fit it.
 */
export function loadSecrets({ secrets: file, postgresData }: StatePaths): Secrets {
  const known = readJson(file);
  if (known !== undefined) return known as Secrets;
  if (existsSync(file) || existsSync(postgresData)) {
    throw new Error(
      `${file} is missing or damaged, and the data can't be used without it. npm run reset starts anew.`,
    );
  }
  const made: Secrets = {
    postgres_password: secret(),
    redis_password: secret(),
    peppers: `p1:${randomBytes(32).toString('base64')}`,
    credentials: { gateway: secret(), account: secret(), auth: secret(), operator: secret() },
    manager: samplePerson('manager@example.com', 'Sample manager', 'Sample application'),
    member: samplePerson('member@example.com', 'Sample member', "Member's application"),
  };
  writePrivateFile(file, made);
  return made;
}

function samplePerson(email: string, name: string, applicationName: string): SamplePerson {
  return {
    email,
    name,
    password: randomBytes(12).toString('base64url'),
    application: { name: applicationName, client_id: randomUUID(), client_secret: secret() },
  };
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
