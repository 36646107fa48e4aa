import { randomBytes } from 'node:crypto';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { findAccount } from '../../identity/accounts/account-store.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { auditTeam, lockManagedTeam, noTeam, notManager } from '../changes.ts';
import type { Person } from '../changes.ts';
import { endSso } from '../sso-ends.ts';
import { findMembership, managerOf } from '../store.ts';
import { challengeRecord, teamDomainOf } from './domain-name.ts';
import type { DomainMail } from './domain-mails.ts';
import { questionLimit } from './question-limit.ts';
import type { CheckRecord, RecordCheck } from './record-check.ts';
import {
  deleteDomain,
  findDomain,
  insertDomain,
  listDomains,
  lockDomain,
  setAsked,
  setMissing,
  setProven,
  setUnproven,
  setWarned,
} from './store.ts';
import type { TeamDomain } from './store.ts';

const MAX_DOMAINS_PER_TEAM = 20;

/** @throws {Problem} not_found, forbidden */
export async function managedTeam(query: Query, { account_id }: Pick<Person, 'account_id'>): Promise<number> {
  const found = await findMembership(query, account_id);
  if (found === undefined) throw noTeam();
  if (found.role !== 'manager') throw notManager();
  return found.team_id;
}

/** Gives the domain that the team has already, too. @throws {Problem} not_found, forbidden, invalid_request */
export async function addDomain(query: Query, person: Person, typed: string): Promise<TeamDomain> {
  const named = teamDomainOf(typed);
  if ('fault' in named) throw invalidFields([{ field: 'domain', message: named.fault }]);
  const team = await lockManagedTeam(query, person);
  const { domain } = named;
  const others = await listDomains(query, team.team_id);
  const known = others.find((other) => other.domain === domain);
  if (known !== undefined) return known;
  if (others.length >= MAX_DOMAINS_PER_TEAM) {
    const message = `a team has at most ${String(MAX_DOMAINS_PER_TEAM)} domains`;
    throw invalidFields([{ field: 'domain', message }]);
  }
  const challenge = randomBytes(16).toString('hex');
  const made = await insertDomain(query, { team_id: team.team_id, domain, challenge });
  await auditTeam(query, person, team, 'team_domain_added', { domain });
  return made;
}

/** @throws {Problem} not_found, forbidden */
export async function removeDomain(query: Query, person: Person, domainId: number): Promise<void> {
  const team = await lockManagedTeam(query, person);
  const removed = await deleteDomain(query, { team_id: team.team_id, domain_id: domainId });
  if (removed === undefined) throw new Problem('not_found');
  const { domain, proven_at } = removed;
  if (proven_at !== null) await endSso(query, team.team_id, domain);
  await auditTeam(query, person, team, 'team_domain_removed', { domain, was_proven: proven_at !== null });
}

export type CheckNeeds = {
  query: Query;
  transact: Transact;
  counts: Pick<AttemptCounts, 'take'>;
  checkRecord: CheckRecord;
};

/** Asks DNS outside of a transaction. @throws {Problem} not_found, forbidden, too_many_requests */
export async function checkDomain(
  { query, transact, counts, checkRecord }: CheckNeeds,
  person: Person,
  domainId: number,
): Promise<{ domain: TeamDomain; check: RecordCheck }> {
  const key = { team_id: await managedTeam(query, person), domain_id: domainId };
  const found = await findDomain(query, key);
  if (found === undefined) throw new Problem('not_found');
  refuseExceeded(await counts.take([questionLimit(found)]), 'DNS is asked at most once a minute.');
  await setAsked(query, domainId);
  const check = await checkRecord({ domain: found.domain, ...challengeRecord(found) });
  await transact(async (inside) => {
    if ((await managedTeam(inside, person)) !== key.team_id) throw noTeam();
    await noteCheck(inside, found, check, person.actor);
  });
  const domain = await findDomain(query, key);
  if (domain === undefined) throw new Problem('not_found');
  return { domain, check };
}

/** A team that proves a domain takes it from the one that had it. */
export async function noteCheck(
  query: Query,
  { domain_id, domain, team_id }: TeamDomain,
  { result }: RecordCheck,
  actor: Actor,
): Promise<void> {
  const rows = await lockDomain(query, domain);
  const own = rows.find((row) => row.domain_id === domain_id);
  // Removed meanwhile.
  if (own === undefined || result === 'unknown') return;
  if (result === 'missing') {
    const missing = await setMissing(query, domain_id);
    if (missing?.is_warning_due !== true) return;
    await setWarned(query, domain_id);
    await mailManager(query, team_id, { kind: 'team_domain_missing', domain });
    return;
  }
  const former = rows.find((row) => row.proven_at !== null && row.domain_id !== domain_id);
  if (former !== undefined) {
    await setUnproven(query, former.domain_id);
    await endSso(query, former.team_id, domain);
    await auditDomain(query, former.team_id, actor, 'team_domain_lost', domain);
    await mailManager(query, former.team_id, { kind: 'team_domain_lost', domain });
  }
  await setProven(query, domain_id);
  if (own.proven_at !== null) return;
  await auditDomain(query, team_id, actor, 'team_domain_proven', domain);
  if (former !== undefined) await mailManager(query, team_id, { kind: 'team_domain_taken', domain });
}

async function auditDomain(
  query: Query,
  teamId: number,
  actor: Actor,
  action: 'team_domain_lost' | 'team_domain_proven',
  domain: string,
): Promise<void> {
  const rows = await query<{ name: string }>('SELECT name FROM teams WHERE team_id = :teamId', { teamId });
  const team = { team_id: teamId, name: rows[0]?.name ?? '' };
  const account_id = await managerOf(query, teamId);
  await auditTeam(query, { account_id, actor }, team, action, { domain });
}

async function mailManager(
  query: Query,
  teamId: number,
  { kind, domain }: { kind: DomainMail['kind']; domain: string },
): Promise<void> {
  const account_id = await managerOf(query, teamId);
  const manager = await findAccount(query, account_id);
  if (manager === undefined) return;
  const mail: DomainMail = { kind, recipient: manager.email, account_id, name: domain };
  await enqueueMail(query, mail);
}
