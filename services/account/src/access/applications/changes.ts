import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { hmacSecret, newClientSecret } from '@tollgate/credentials/client-secret';
import type { Pepper } from '@tollgate/credentials/client-secret';
import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { previousSecretActive } from '../../http/previous-secret-active.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import { enqueueClientChange } from '../client-changes/store.ts';
import type { NewClientChange } from '../client-changes/store.ts';
import { endConnectionsOf } from '../connections/end.ts';
import { DELEGATED_TOKEN_LIFESPAN_MAX_SEC } from '../connections/rules.ts';
import type { Application, ApplicationKey, LiveSecret, OwnedApplication } from './application.ts';
import { redirectUriFault } from '../redirect-uris/redirect-uri.ts';
import {
  endsAfterRevoke,
  endsAfterRotation,
  previousSecretEnd,
  stateAfterDelete,
  stateAfterRevoke,
  stateAfterRotation,
} from './rules.ts';
import {
  countUnderLock,
  endSecrets,
  insertApplication,
  insertSecret,
  lockActiveApplications,
  lockDeveloper,
  liveSecrets,
  lockApplication,
  lockApplicationOfClient,
  setSettings,
  setApplicationState,
  setVerified,
} from './store.ts';

const CREATED = [
  'application_id',
  'account_id',
  'name',
  'type',
  'token_lifespan_sec',
  'client_id',
  'public_client',
  'redirect_uris',
] as const;

const SETTINGS = ['name', 'token_lifespan_sec', 'redirect_uris', 'verified_at'] as const;

const STATE = ['status', 'revocation_epoch', 'secrets'] as const;

export type ApplicationSettings = { peppers: readonly Pepper[]; maxApplicationsPerAccount: number };

export type Changes = {
  name?: string | undefined;
  token_lifespan_sec?: number | undefined;
  redirect_uris?: string[] | undefined;
};

export type WantedApplication = Pick<
  OwnedApplication,
  'account_id' | 'name' | 'type' | 'token_lifespan_sec'
> &
  Pick<Changes, 'redirect_uris'> & { public_client?: boolean | undefined };

/** `client_secret` is null for a public client. */
export type Created = { application: Application; client_secret: string | null };
export type Revoked = { application: Application; pending: NewClientChange };
export type Rotated = {
  application: Application;
  client_secret: string;
  previous_secret_expires_at: Date | null;
  pending: NewClientChange;
};

/**
 * auth isn't told: no caller can have asked for an unknown client id.
 * @throws {Problem} invalid_request for an unknown account; application_limit_reached
 */
export async function createApplication(
  query: Query,
  wanted: WantedApplication,
  { peppers, maxApplicationsPerAccount }: ApplicationSettings,
  by: Actor,
): Promise<Created> {
  const count = await countUnderLock(query, wanted.account_id);
  if (count === undefined) {
    throw invalidFields([{ field: 'account_id', message: 'there is no such account' }]);
  }
  if (count >= maxApplicationsPerAccount) {
    const detail = `The account has ${String(count)} applications. The limit is ${String(maxApplicationsPerAccount)}.`;
    throw new Problem('application_limit_reached', { detail });
  }
  const { redirect_uris = [], public_client = false } = wanted;
  checkAuthorization({ ...wanted, redirect_uris, public_client });
  const application = await insertApplication(query, {
    ...wanted,
    redirect_uris,
    public_client,
    client_id: randomUUID(),
  });
  const client_secret = public_client ? null : newClientSecret();
  if (client_secret !== null) {
    await insertSecret(query, application.application_id, hmacSecret(client_secret, peppers));
  }
  const { name, type, token_lifespan_sec, client_id } = application;
  await recordAudit(query, {
    ...by,
    ...ids(application),
    action: 'application_created',
    details: {
      name,
      type,
      token_lifespan_sec,
      client_id,
      ...(redirect_uris.length > 0 && { redirect_uris }),
    },
    change: changeOf(CREATED, null, application),
  });
  return { application, client_secret };
}

/** A new lifespan applies to new tokens only. @throws {Problem} not_found */
export async function changeApplication(
  query: Query,
  key: ApplicationKey,
  { name, token_lifespan_sec, redirect_uris }: Changes,
  by: Actor,
): Promise<{ application: Application; pending: NewClientChange | null }> {
  const before = await lock(query, key);
  const wanted: Application = {
    ...before,
    name: name ?? before.name,
    token_lifespan_sec: token_lifespan_sec ?? before.token_lifespan_sec,
    redirect_uris: redirect_uris ?? before.redirect_uris,
  };
  checkAuthorization(wanted);
  const changed = differences(before, wanted);
  if (Object.keys(changed).length === 0) return { application: before, pending: null };
  const application = { ...wanted, ...(await setSettings(query, wanted)) };
  const isUnverified = before.verified_at !== null && application.verified_at === null;
  const details = { ...changed, ...(isUnverified && { verification_ended: true }) };
  const entry = { ...by, ...ids(before), details, change: changeOf(SETTINGS, before, application) };
  await recordAudit(query, { ...entry, action: 'application_changed' });
  return { application, pending: await enqueueClientChange(query, application, { endsTokens: false }) };
}

/** What people read of a verified application. `developer` is null if it registered itself. */
export type Verification = { name: string; developer: string | null; redirect_uris: string[] };

/**
 * An operator has checked who is behind the name, and the addresses that it sends people to: `read`, which its developer
 * could exchange for others before this.
 * @throws {Problem} not_found; invalid_request for another type; application_revoked; changed_meanwhile
 */
export async function verifyApplication(
  query: Query,
  application_id: number,
  read: Verification,
  by: Actor,
): Promise<Application> {
  const developer = await lockDeveloper(query, application_id);
  const before = await lock(query, { application_id, owner_id: null });
  const { type, status, name, redirect_uris } = before;
  if (type !== 'authorization') {
    throw new Problem('invalid_request', { detail: 'Only applications of type authorization are verified.' });
  }
  if (status !== 'active') throw new Problem('application_revoked');
  if (!isDeepStrictEqual(read, { name, developer, redirect_uris })) throw new Problem('changed_meanwhile');
  if (before.verified_at !== null) return before;
  const verified_at = await setVerified(query, application_id, true);
  const details = { name, redirect_uris };
  const application = { ...before, verified_at };
  const entry = { ...by, ...ids(before), details, change: changeOf(SETTINGS, before, application) };
  await recordAudit(query, { ...entry, action: 'application_verified' });
  return application;
}

/** @throws {Problem} not_found */
export async function endVerification(query: Query, application_id: number, by: Actor): Promise<Application> {
  const before = await lock(query, { application_id, owner_id: null });
  if (before.verified_at === null) return before;
  const verified_at = await setVerified(query, application_id, false);
  const details = { name: before.name };
  const application = { ...before, verified_at };
  const entry = { ...by, ...ids(before), details, change: changeOf(SETTINGS, before, application) };
  await recordAudit(query, { ...entry, action: 'application_verification_ended' });
  return application;
}

/** @throws {Problem} not_found */
export async function revokeApplication(query: Query, key: ApplicationKey, by: Actor): Promise<Revoked> {
  return revokeLocked(query, await lock(query, key), by);
}

/** All of an account that are active, with the hidden one of its temporary token. */
export async function revokeApplicationsOf(
  query: Query,
  accountId: number,
  by: Actor,
): Promise<NewClientChange[]> {
  const pending: NewClientChange[] = [];
  for (const application of await lockActiveApplications(query, accountId)) {
    pending.push((await revokeLocked(query, application, by)).pending);
  }
  return pending;
}

/** The application is locked. */
export async function revokeLocked(query: Query, before: Application, by: Actor): Promise<Revoked> {
  const application: Application = { ...before, ...stateAfterRevoke(before) };
  await endConnectionsOf(query, before);
  const secrets = await endAllSecrets(query, before.application_id);
  await setApplicationState(query, before.application_id, application);
  const details = { revocation_epoch: application.revocation_epoch, status_before: before.status };
  const change = changeOf(STATE, { ...before, secrets }, { ...application, secrets: [] });
  await recordAudit(query, { ...by, ...ids(before), action: 'application_revoked', details, change });
  return { application, pending: await enqueueClientChange(query, application, { endsTokens: true }) };
}

/**
 * Postgres, restored from a backup, has a lower epoch than auth: the restored secrets may be revoked ones, so
 * all end.
 * @throws {Problem} not_found
 */
export async function takeOverRevocation(
  query: Query,
  { client_id, revocation_epoch }: { client_id: string; revocation_epoch: number },
  by: Actor,
): Promise<Revoked | undefined> {
  const before = await lockApplicationOfClient(query, client_id);
  if (before === undefined) throw new Problem('not_found');
  if (before.revocation_epoch >= revocation_epoch) return undefined;
  const application: Application = { ...before, status: 'revoked', revocation_epoch };
  await endConnectionsOf(query, before);
  await endAllSecrets(query, before.application_id);
  await setApplicationState(query, before.application_id, application);
  const details = {
    revocation_epoch,
    revocation_epoch_before: before.revocation_epoch,
    status_before: before.status,
  };
  await recordAudit(query, { ...by, ...ids(before), action: 'application_revocation_recovered', details });
  return { application, pending: await enqueueClientChange(query, application, { endsTokens: true }) };
}

/** @throws {Problem} not_found */
export async function deleteApplication(
  query: Query,
  key: ApplicationKey,
  by: Actor,
): Promise<NewClientChange> {
  const before = await lock(query, key);
  const state = stateAfterDelete(before);
  await endConnectionsOf(query, before);
  const secrets = await endAllSecrets(query, key.application_id);
  await setApplicationState(query, key.application_id, state);
  const { revocation_epoch } = state;
  const details = { name: before.name, revocation_epoch, status_before: before.status };
  const change = changeOf([...CREATED, ...STATE], { ...before, secrets }, null);
  await recordAudit(query, { ...by, ...ids(before), action: 'application_deleted', details, change });
  return enqueueClientChange(query, { ...before, revocation_epoch }, { endsTokens: true });
}

/**
 * What a rotation has promised, the next one keeps: it waits for the end of the previous secret.
 * @throws {Problem} not_found; previous_secret_active
 */
export async function rotateSecret(
  query: Query,
  { overlapSec, ...key }: ApplicationKey & { overlapSec: number },
  peppers: readonly Pepper[],
  by: Actor,
): Promise<Rotated> {
  const before = await lock(query, key);
  const { application_id: applicationId } = before;
  if (before.public_client) {
    throw new Problem('invalid_request', { detail: 'A public client has no client secret.' });
  }
  // Read after the lock is held, so that the second of two rotations has the later time.
  const now = new Date();
  const live = await liveSecrets(query, applicationId, now);
  const promised = previousSecretEnd(live);
  if (promised !== undefined) throw previousSecretActive(promised);
  const ends = endsAfterRotation(live, now, overlapSec);
  await endSecrets(query, ends);
  const client_secret = newClientSecret();
  await insertSecret(query, applicationId, hmacSecret(client_secret, peppers));
  const application: Application = { ...before, ...stateAfterRotation(before) };
  await setApplicationState(query, applicationId, application);

  const previous = ends.find(({ expires_at }) => expires_at > now)?.expires_at ?? null;
  const details = {
    overlap_sec: overlapSec,
    previous_secret_expires_at: previous === null ? null : previous.toISOString(),
  };
  const change = changeOf(
    STATE,
    { ...before, secrets: shownSecrets(live) },
    { ...application, secrets: shownSecrets(await liveSecrets(query, applicationId, now)) },
  );
  await recordAudit(query, { ...by, ...ids(before), action: 'secret_rotated', details, change });
  if (before.status === 'revoked') {
    const { revocation_epoch } = application;
    await recordAudit(query, {
      ...by,
      ...ids(before),
      action: 'application_restored',
      details: { revocation_epoch },
    });
  }
  const pending = await enqueueClientChange(query, application, { endsTokens: false });
  return { application, client_secret, previous_secret_expires_at: previous, pending };
}

/** `pending` is null if there was none. @throws {Problem} not_found */
export async function endPreviousSecret(
  query: Query,
  key: ApplicationKey,
  by: Actor,
): Promise<{ application: Application; pending: NewClientChange | null }> {
  const application = await lock(query, key);
  const now = new Date();
  const live = await liveSecrets(query, key.application_id, now);
  const [current, ...previous] = live;
  if (current === undefined || previous.length === 0) return { application, pending: null };
  await endSecrets(query, endsAfterRevoke(previous, now));
  const left = { secrets: shownSecrets([current]) };
  const change = changeOf(['secrets'], { secrets: shownSecrets(live) }, left);
  const entry = { ...by, ...ids(application), details: {}, change };
  await recordAudit(query, { ...entry, action: 'previous_secret_ended' });
  return { application, pending: await enqueueClientChange(query, application, { endsTokens: false }) };
}

async function lock(query: Query, key: ApplicationKey): Promise<Application> {
  const application = await lockApplication(query, key);
  if (application === undefined) throw new Problem('not_found');
  return application;
}

/** As the API shows those that were live. */
async function endAllSecrets(query: Query, applicationId: number): Promise<ShownSecret[]> {
  const now = new Date();
  const live = await liveSecrets(query, applicationId, now);
  await endSecrets(query, endsAfterRevoke(live, now));
  return shownSecrets(live);
}

type ShownSecret = Omit<LiveSecret, 'secret_id'>;

function shownSecrets(live: readonly LiveSecret[]): ShownSecret[] {
  return live.map(({ created_at, expires_at }) => ({ created_at, expires_at }));
}

/** @throws {Problem} invalid_request */
function checkAuthorization({
  type,
  redirect_uris,
  public_client,
  token_lifespan_sec,
}: Pick<Application, 'type' | 'redirect_uris' | 'public_client' | 'token_lifespan_sec'>): void {
  if (type !== 'authorization') {
    if (redirect_uris.length > 0) throw onlyOfAuthorization('redirect_uris');
    if (public_client) throw onlyOfAuthorization('public_client');
    return;
  }
  if (redirect_uris.length === 0) {
    throw invalidFields([{ field: 'redirect_uris', message: 'must have at least one entry' }]);
  }
  const faults = redirect_uris.flatMap((uri, index) => {
    const message = redirect_uris.indexOf(uri) < index ? 'is listed twice' : redirectUriFault(uri);
    const entry = redirect_uris.length > 1 ? ` (entry ${String(index + 1)})` : '';
    return message === undefined ? [] : [{ field: 'redirect_uris', message: `${message}${entry}` }];
  });
  if (faults.length > 0) throw invalidFields(faults);
  if (token_lifespan_sec > DELEGATED_TOKEN_LIFESPAN_MAX_SEC) {
    const message = 'must be 24 hours at most for an application of type authorization';
    throw invalidFields([{ field: 'token_lifespan_sec', message }]);
  }
}

function onlyOfAuthorization(field: string): Problem {
  return invalidFields([{ field, message: 'is for applications of type authorization' }]);
}

function differences(
  before: Application,
  after: Application,
): Record<string, string | number | readonly string[]> {
  return {
    ...(before.name === after.name ? {} : { name_before: before.name, name: after.name }),
    ...(before.token_lifespan_sec === after.token_lifespan_sec
      ? {}
      : {
          token_lifespan_sec_before: before.token_lifespan_sec,
          token_lifespan_sec: after.token_lifespan_sec,
        }),
    ...(before.redirect_uris.join(' ') === after.redirect_uris.join(' ')
      ? {}
      : { redirect_uris: after.redirect_uris }),
  };
}

function ids({ application_id, account_id }: Application) {
  return { application_id, account_id };
}
