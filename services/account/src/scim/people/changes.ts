import { isDeepStrictEqual } from 'node:util';
import {
  findAccountByEmail,
  insertAccount,
  lockAccount,
  setEmail,
  setName,
} from '../../identity/accounts/account-store.ts';
import type { Account } from '../../identity/accounts/account.ts';
import { endEmailTokens } from '../../identity/mails/email-tokens.ts';
import type { IdentityMail } from '../../identity/mails/identity-mails.ts';
import { NO_PASSWORD } from '../../identity/no-password.ts';
import type { AfterCommit } from '../../identity/sessions/end-sessions.ts';
import { emailAddressOf } from '../../mail/email-address.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import { isUniqueViolation } from '../../platform/database/query.ts';
import type { Query } from '../../platform/database/query.ts';
import { auditTeam } from '../../teams/changes.ts';
import { holdsDomain } from '../../teams/domains/store.ts';
import { findMembership, lockTeams, managerOf } from '../../teams/store.ts';
import type { Team } from '../../teams/store.ts';
import type { Values } from '../protocol/attributes.ts';
import { assertUnchanged } from '../protocol/precondition.ts';
import type { Precondition } from '../protocol/precondition.ts';
import { ScimError, immutable, invalidValue, noSuchResource, uniqueness } from '../protocol/scim-error.ts';
import { join, leave, ofManager } from './membership.ts';
import type { MembershipNeeds } from './membership.ts';
import type { ProvisioningMail } from '../settings/provisioning-mails.ts';
import {
  deleteRefusal,
  findUser,
  findUserOf,
  formerUse,
  insertUser,
  noteRefusal,
  setDeleted,
  setUser,
} from './store.ts';
import type { ScimUser } from './store.ts';
import { assertSmall, attributesOf, displayedName, valuesOf } from './user.ts';

/** A team's directory: who it acts for, and as whom it is recorded. */
export type Directory = { team_id: number; scim_token_id: number; actor: Actor };

const EMAIL_MAX_CHARACTERS = 254;

const MAX_USERS_PER_TEAM = 10_000;

/** @throws {ScimError} */
export async function createUser(
  needs: MembershipNeeds,
  directory: Directory,
  wanted: Values,
): Promise<string> {
  const address = addressOf(wanted);
  const name = displayedName(wanted, address);
  assertSmall(wanted);
  // First, so that no directory can hold up the accounts of other domains.
  await assertDomain(needs.query, directory.team_id, address);
  const refusal: { email?: string } = {};
  try {
    const id = await needs.transact(async (inside) => {
      const { account, isMade } = await accountOf(inside, address, name);
      const team = await lockedTeam(inside, directory);
      const made = await insertFor(inside, { directory, team, account, isMade, wanted }, refusal);
      await deleteRefusal(inside, directory.team_id, address);
      return made;
    });
    needs.wakeMails();
    return id;
  } catch (error) {
    if (refusal.email !== undefined) await noteRefusal(needs.query, directory.team_id, refusal.email);
    throw error;
  }
}

/** The account of the address, locked; made if there is none. Of two at once, one makes it. */
async function accountOf(
  query: Query,
  email: string,
  name: string,
): Promise<{ account: Account; isMade: boolean }> {
  const made = await insertAccount(query, { email, name, password_hash: NO_PASSWORD });
  const found = made ?? (await findAccountByEmail(query, email))?.account_id;
  const account = found === undefined ? undefined : await lockAccount(query, found);
  // Erased, or given another address, at this moment.
  if (account?.email.toLowerCase() !== email.toLowerCase()) {
    throw uniqueness(`The account of ${email} has just changed. Try again.`);
  }
  return { account, isMade: made !== undefined };
}

async function lockedTeam(query: Query, { team_id }: Directory): Promise<Team> {
  const [team] = await lockTeams(query, [team_id]);
  if (team === undefined) throw noSuchResource();
  return team;
}

async function insertFor(
  query: Query,
  creation: { directory: Directory; team: Team; account: Account; isMade: boolean; wanted: Values },
  refusal: { email?: string },
): Promise<string> {
  const { directory, team, account, isMade, wanted } = creation;
  const { team_id, actor } = directory;
  const { account_id, email } = account;
  await assertDomain(query, team_id, email);
  const user_name = userNameOf(wanted);
  if ((await findUserOf(query, { team_id, account_id, user_name })) !== undefined) {
    throw uniqueness(`There is a user with the userName ${user_name} already.`);
  }
  const former = await formerUse(query, { team_id, account_id });
  const isOurs = isMade || former !== undefined;
  // An account that this team neither made nor has in it is its owner's alone.
  if (!isOurs && (await findMembership(query, account_id))?.team_id !== team_id) {
    refusal.email = email;
    throw uniqueness(
      `${user_name} has an account already. Invite the person on the Team page; once they have joined, send this again.`,
    );
  }
  await assertRoom(query, team_id);
  const made_account = isMade || former?.made_account === true;
  const scim_user_id = await insertUser(query, {
    team_id,
    account_id,
    user_name,
    ...attributesOf(wanted),
    made_account,
  });
  if (isMade) {
    const entry = { ...actor, application_id: null, account_id };
    await recordAudit(query, { ...entry, action: 'account_created', details: { email } });
  }
  if (wanted['active'] === false) return scim_user_id;
  const user = await found(query, { team_id, scim_user_id });
  if (await join(query, { team, user, account, actor })) {
    const mail: ProvisioningMail = { kind: 'team_user_provisioned', recipient: email, account_id };
    await enqueueMail(query, mail);
  }
  return scim_user_id;
}

async function assertRoom(query: Query, team_id: number): Promise<void> {
  const rows = await query(
    `SELECT 1 FROM scim_users WHERE team_id = :team_id AND deleted_at IS NULL OFFSET ${String(MAX_USERS_PER_TEAM - 1)} LIMIT 1`,
    { team_id },
  );
  if (rows.length > 0) {
    throw new ScimError(403, undefined, `A team can have at most ${String(MAX_USERS_PER_TEAM)} users.`);
  }
}

async function assertDomain(query: Query, team_id: number, email: string): Promise<void> {
  if (await holdsDomain(query, team_id, email)) return;
  throw invalidValue(
    `userName must be an email address in a domain that the team has proven on the Team page; ${email} is not.`,
  );
}

function userNameOf({ userName }: Values): string {
  if (typeof userName !== 'string') throw invalidValue('userName is required.');
  return userName;
}

function addressOf(values: Values): string {
  const address = emailAddressOf(userNameOf(values));
  if (address === undefined || address.length > EMAIL_MAX_CHARACTERS) {
    throw invalidValue('userName must be an email address.');
  }
  return address;
}

async function found(query: Query, key: { team_id: number; scim_user_id: string }): Promise<ScimUser> {
  const user = await findUser(query, key);
  if (user === undefined) throw noSuchResource();
  return user;
}

/**
 * PUT and PATCH: `change` gives the values that the user is to have; everything that follows happens, or nothing.
 * @throws {ScimError}
 */
export async function changeUser(
  needs: MembershipNeeds,
  directory: Directory,
  scimUserId: string,
  { change, precondition }: { change: (before: Values) => Values; precondition: Precondition },
): Promise<void> {
  const told = await inUser(needs, directory, scimUserId, async (inside, { team, user, account }) => {
    assertUnchanged(user, precondition);
    // Without the membership, so that what the directory doesn't say about it stays as it is.
    const { active: isIn, ...before } = valuesOf(user);
    const { active, ...after } = change(before);
    const isChanged = !isDeepStrictEqual(before, after);
    const given = { team, user, account, actor: directory.actor };
    const context = isChanged ? await changeValues(inside, given, before, after) : given;
    if (isChanged || (active !== undefined && active !== isIn)) {
      const user_name = userNameOf(after);
      await setUser(inside, { scim_user_id: scimUserId, user_name, ...attributesOf(after) });
    }
    if (active === false) return leave(needs, inside, context);
    if (active === true) {
      if (isIn !== true) {
        await assertDomain(inside, team.team_id, addressOf(after));
        await refuseOwnAddress(inside, context);
      }
      await join(inside, context);
    }
    return [];
  });
  needs.wakeMails();
  await Promise.all(told.map((tell) => tell()));
}

/** The person leaves the team, if they are in it, and the user is gone. @throws {ScimError} */
export async function deleteUser(
  needs: MembershipNeeds,
  directory: Directory,
  scimUserId: string,
  precondition: Precondition,
): Promise<void> {
  const told = await inUser(needs, directory, scimUserId, async (inside, { team, user, account }) => {
    assertUnchanged(user, precondition);
    const { actor } = directory;
    const after = await leave(needs, inside, { team, user, account, actor });
    await setDeleted(inside, scimUserId);
    const manager = { account_id: await managerOf(inside, team.team_id), actor };
    await auditTeam(inside, manager, team, 'team_user_deleted', { email: account.email });
    return after;
  });
  await Promise.all(told.map((tell) => tell()));
}

type Context = { team: Team; user: ScimUser; account: Account; actor: Actor };

/** Locks the account before the team, as every change of both does. */
async function inUser(
  needs: MembershipNeeds,
  directory: Directory,
  scimUserId: string,
  work: (inside: Query, context: Omit<Context, 'actor'>) => Promise<AfterCommit[]>,
): Promise<AfterCommit[]> {
  const key = { team_id: directory.team_id, scim_user_id: scimUserId };
  const { account_id } = await found(needs.query, key);
  try {
    return await needs.transact(async (inside) => {
      const account = await lockAccount(inside, account_id);
      const team = await lockedTeam(inside, directory);
      // Deleted while this waited.
      const user = await found(inside, key);
      if (account === undefined) throw noSuchResource();
      return work(inside, { team, user, account });
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw uniqueness('Another user, or another account, has this userName.');
  }
}

/**
 * Who has left and has another address by now has taken the account along: a membership that they didn't ask for would
 * show the manager what they use, and let the team be handed over to them, who would pay. @throws {ScimError} uniqueness
 */
async function refuseOwnAddress(query: Query, { team, user, account }: Context): Promise<void> {
  if (await holdsDomain(query, team.team_id, account.email)) return;
  throw uniqueness(
    `${user.user_name} has left, and has an address of their own by now. Invite the person on the Team page.`,
  );
}

/** The context as it is afterwards. */
async function changeValues(query: Query, context: Context, before: Values, after: Values): Promise<Context> {
  const { team, account, actor } = context;
  assertSmall(after);
  const email = await changeAddress(query, context, before, after);
  await changeName(query, context, before, after);
  const manager = { account_id: await managerOf(query, team.team_id), actor };
  await auditTeam(query, manager, team, 'team_user_changed', { email: account.email });
  return { ...context, account: { ...account, email } };
}

/**
 * Both addresses have to be in the team's domains: no account of others is taken, and none moves to others. Returns the
 * one that the account has then.
 */
async function changeAddress(
  query: Query,
  { team, account, actor }: Context,
  before: Values,
  after: Values,
): Promise<string> {
  const { account_id, email: email_before } = account;
  const email = addressOf(after);
  // The person may have another address by now.
  if (email.toLowerCase() === addressOf(before).toLowerCase()) return email_before;
  if ((await managerOf(query, team.team_id)) === account_id) throw ofManager();
  if (!(await holdsDomain(query, team.team_id, email_before))) {
    throw immutable('The person has an address of their own, which the directory can’t change.');
  }
  await assertDomain(query, team.team_id, email);
  await setEmail(query, account_id, email);
  await endEmailTokens(query, account_id);
  const details = { email_before, email };
  await recordAudit(query, { ...actor, application_id: null, account_id, action: 'email_changed', details });
  const mail: IdentityMail = { kind: 'email_changed', recipient: email_before, account_id };
  await enqueueMail(query, mail);
  return email;
}

/** Only of accounts that the directory made: others have chosen their name. */
async function changeName(
  query: Query,
  { user, account, actor }: Context,
  before: Values,
  after: Values,
): Promise<void> {
  const name = displayedName(after, addressOf(after));
  if (!user.made_account || name === displayedName(before, addressOf(before))) return;
  const { account_id, name: name_before } = account;
  await setName(query, account_id, name);
  const details = { name_before, name };
  await recordAudit(query, {
    ...actor,
    application_id: null,
    account_id,
    action: 'account_changed',
    details,
  });
}
