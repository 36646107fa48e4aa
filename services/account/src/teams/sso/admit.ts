import { Problem } from '@tollgate/http/problem';
import { nameSchema } from '../../http/input/name.ts';
import type { Caller } from '../../http/caller-address.ts';
import { findAccountByEmail, insertAccount, lockAccount } from '../../identity/accounts/account-store.ts';
import type { Account } from '../../identity/accounts/account.ts';
import { DEFAULT_MEMBER_ROLE } from '../../identity/accounts/member-roles.ts';
import { NO_PASSWORD } from '../../identity/no-password.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { admitMember, auditTeam } from '../changes.ts';
import { holdsDomain } from '../domains/store.ts';
import { takeInvitationTo } from '../invitations/invitation-store.ts';
import { slotsLimit } from '../invitations/invitations.ts';
import { isFull } from '../rules.ts';
import { noSlotLeft } from '../slots.ts';
import { countTaken, findMembership, lockTeams, managerOf } from '../store.ts';
import type { Team } from '../store.ts';
import type { SsoMail } from './sso-mails.ts';
import { findIdentity, findProvider, insertIdentity, isOwnAccount, lockIdentity } from './store.ts';
import type { SsoProvider } from './store.ts';

/** Whom a team's identity provider has signed in, as far as it goes. */
export type TeamIdentity = {
  subject: string;
  email: string | null;
  /** Null if the provider doesn't say. */
  email_verified: boolean | null;
  name: string | null;
};

/** The account that is signed in otherwise in the same browser; confirmed lately by as much as a sign-in needs. */
type Proof = { account_id: number; is_confirmed: boolean } | undefined;

type Admission = { provider: SsoProvider; identity: TeamIdentity; proof: Proof; by: Caller };

/**
 * The account of someone whom a team's provider has signed in. The provider is the team's, so it speaks only for
 * addresses of the team's domains, and for an account that exists only once its owner has shown to be the same person.
 * `inside` is a transaction's. Locks the account before the team, as others do.
 * @throws {Problem} sso_not_allowed; sso_link_required; sign_in_expired; already_in_team; team_slots_limit_exceeded
 */
export async function admit(
  inside: Query,
  admission: Admission,
): Promise<{ account: Account; identity_id: number }> {
  const { provider, identity } = admission;
  const { team_id, issuer } = provider;
  const key = { team_id, issuer, subject: identity.subject };
  await lockIdentity(inside, key);
  const known = await findIdentity(inside, key);
  const account =
    known !== undefined
      ? await lockAccount(inside, known.account_id)
      : await lockAccountOf(inside, identity.email);
  const team = await lockUnchanged(inside, provider);
  if (known === undefined) return admitFirst(inside, { ...admission, team, account });
  // The team has let the account go meanwhile.
  if (account === undefined || (await findIdentity(inside, key)) === undefined)
    throw new Problem('sign_in_expired');
  await refuseForeignAddress(inside, team_id, account.email);
  return { account, identity_id: known.identity_id };
}

async function lockAccountOf(inside: Query, email: string | null): Promise<Account | undefined> {
  const found = email === null ? undefined : await findAccountByEmail(inside, email);
  return found === undefined ? undefined : lockAccount(inside, found.account_id);
}

async function lockUnchanged(inside: Query, { team_id, provider_id, version }: SsoProvider): Promise<Team> {
  const [team] = await lockTeams(inside, [team_id]);
  const now = await findProvider(inside, team_id);
  if (team === undefined || now?.provider_id !== provider_id || now.version !== version) {
    throw new Problem('sign_in_expired');
  }
  return team;
}

type First = Admission & { team: Team; account: Account | undefined };

/** Someone whom this team's provider has never signed in. */
async function admitFirst(inside: Query, first: First): Promise<{ account: Account; identity_id: number }> {
  const { identity, account, team } = first;
  const { email, email_verified } = identity;
  if (email === null) throw notAllowed('The identity provider sends no email address for you.');
  if (email_verified === false) throw notAllowed(`The identity provider has not verified ${email}.`);
  await refuseForeignAddress(inside, team.team_id, email);
  return account === undefined
    ? createMember(inside, first, email)
    : linkAccount(inside, { ...first, account });
}

async function refuseForeignAddress(inside: Query, teamId: number, email: string): Promise<void> {
  if (await holdsDomain(inside, teamId, email)) return;
  throw notAllowed(`Your team has not proven the domain of ${email}.`);
}

/** An account that exists: the provider's word alone would be enough to take it over. */
async function linkAccount(
  inside: Query,
  { provider, identity, proof, by, team, account }: First & { account: Account },
): Promise<{ account: Account; identity_id: number }> {
  const { account_id, email } = account;
  const { team_id } = team;
  const { issuer, client_id } = provider;
  const membership = await findMembership(inside, account_id);
  if (membership !== undefined && membership.team_id !== team_id) {
    throw new Problem('already_in_team', { detail: `The account of ${email} is in another team.` });
  }
  const isProven = proof?.account_id === account_id && proof.is_confirmed;
  if (!isProven && !(await isOwnAccount(inside, { team_id, issuer, client_id, account_id }))) {
    throw new Problem('sso_link_required', {
      detail: `${email} has an account already. Sign in to it once, and single sign-on is linked to it.`,
      extensions: { email },
    });
  }
  if (membership === undefined) await join(inside, { team, account_id, email, by });
  const identity_id = await insertIdentity(inside, {
    team_id,
    issuer,
    client_id,
    account_id,
    subject: identity.subject,
    made_account: !isProven,
  });
  await auditTeam(inside, { account_id, actor: actorOf(account_id, by) }, team, 'team_sso_linked', {
    issuer,
  });
  const mail: SsoMail = { kind: 'team_sso_linked', recipient: email, account_id };
  await enqueueMail(inside, mail);
  return { account, identity_id };
}

/** An account of their own, with no password; the team pays, so it gets no plan. */
async function createMember(
  inside: Query,
  { provider, identity, by, team }: First,
  email: string,
): Promise<{ account: Account; identity_id: number }> {
  if (identity.email_verified !== true) {
    throw notAllowed(`The identity provider does not say that ${email} is verified.`);
  }
  const [localPart = ''] = email.split('@');
  const name = [identity.name, localPart].find((one) => nameSchema.safeParse(one).success) ?? 'Member';
  const account_id = await insertAccount(inside, { email, name, password_hash: NO_PASSWORD });
  const account = account_id === undefined ? undefined : await lockAccount(inside, account_id);
  // Someone has signed up with the address at this moment.
  if (account_id === undefined || account === undefined) throw new Problem('sign_in_expired');
  const actor = actorOf(account_id, by);
  const details = { email, by: 'sso' };
  await recordAudit(inside, {
    ...actor,
    application_id: null,
    account_id,
    action: 'account_created',
    details,
  });
  await join(inside, { team, account_id, email, by });
  const { team_id } = team;
  const { issuer, client_id } = provider;
  const identity_id = await insertIdentity(inside, {
    team_id,
    issuer,
    client_id,
    account_id,
    subject: identity.subject,
    made_account: true,
  });
  await auditTeam(inside, { account_id, actor }, team, 'team_sso_linked', { issuer });
  return { account, identity_id };
}

/** An invitation to the address has kept a slot, and says the role. */
async function join(
  inside: Query,
  { team, account_id, email, by }: { team: Team; account_id: number; email: string; by: Caller },
): Promise<void> {
  const { team_id } = team;
  const invitation = await takeInvitationTo(inside, team_id, email);
  const limit = await slotsLimit(inside, await managerOf(inside, team_id));
  const { members, pending } = await countTaken(inside, team_id);
  if (isFull(members + pending, limit)) throw noSlotLeft(limit);
  const member_role = invitation?.member_role ?? DEFAULT_MEMBER_ROLE;
  const person = { account_id, actor: actorOf(account_id, by) };
  if (!(await admitMember(inside, person, team, { member_role }))) {
    throw new Problem('already_in_team');
  }
  await auditTeam(inside, person, team, 'team_joined', {
    email,
    by: 'sso',
  });
}

function actorOf(accountId: number, { address, request_id }: Caller): Actor {
  return { actor: `account:${String(accountId)}`, address, request_id };
}

function notAllowed(detail: string): Problem {
  return new Problem('sso_not_allowed', { detail: `${detail} Ask the manager of your team.` });
}
