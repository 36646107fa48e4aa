import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { NO_PASSWORD } from '../../identity/no-password.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query } from '../../platform/database/query.ts';
import { auditTeam, lockManagedTeam } from '../../teams/changes.ts';
import type { Person } from '../../teams/changes.ts';
import { managedTeam } from '../../teams/domains/changes.ts';
import { deleteUser } from '../people/changes.ts';
import type { MembershipNeeds } from '../people/membership.ts';
import { ScimError } from '../protocol/scim-error.ts';
import type { ProvisioningMail } from '../settings/provisioning-mails.ts';
import { applyRoles } from '../settings/roles.ts';
import { begin, deleteSettings, findSettings, setSettings } from '../settings/store.ts';
import type { GroupRole, Settings } from '../settings/store.ts';
import { deleteScimToken, deleteScimTokens, insertScimToken, listScimTokens } from '../tokens/store.ts';
import type { ScimToken } from '../tokens/store.ts';
import { nextToRemove, withoutPassword } from './store.ts';

const MAX_TOKENS = 2;

/** The first one begins the provisioning. @throws {Problem} not_found, forbidden, token_limit_reached */
export async function createToken(
  query: Query,
  person: Person,
  { lifespanDays }: { lifespanDays: number },
): Promise<{ made: ScimToken; token: string }> {
  const team = await lockManagedTeam(query, person);
  const { team_id } = team;
  await begin(query, team_id);
  if ((await listScimTokens(query, team_id)).length >= MAX_TOKENS) {
    const detail = `A team has at most ${String(MAX_TOKENS)} provisioning tokens. Revoke one first.`;
    throw new Problem('token_limit_reached', { detail });
  }
  const created = await insertScimToken(query, { team_id, lifespanDays });
  const expires_at = created.made.expires_at.toISOString();
  await auditTeam(query, person, team, 'team_provisioning_token_created', { expires_at });
  return created;
}

/** @throws {Problem} not_found, forbidden */
export async function revokeToken(query: Query, person: Person, scim_token_id: number): Promise<void> {
  const team = await lockManagedTeam(query, person);
  const isRevoked = await deleteScimToken(query, { team_id: team.team_id, scim_token_id });
  if (!isRevoked) throw new Problem('not_found');
  await auditTeam(query, person, team, 'team_provisioning_token_revoked', { scim_token_id });
}

/** Members get their new roles at once. @throws {Problem} not_found, forbidden, invalid_request */
export async function changeSettings(
  query: Query,
  person: Person,
  wanted: Settings & { group_roles: readonly GroupRole[] },
): Promise<void> {
  const names = wanted.group_roles.map(({ group_name }) => group_name.toLowerCase());
  if (new Set(names).size < names.length) {
    throw invalidFields([{ field: 'group_roles', message: 'must name each group once' }]);
  }
  const team = await lockManagedTeam(query, person);
  if ((await findSettings(query, team.team_id)) === undefined) throw notProvisioned();
  await setSettings(query, team.team_id, wanted);
  await auditTeam(query, person, team, 'team_provisioning_changed', { ...wanted });
  await applyRoles(query, team, null, person.actor);
}

function notProvisioned(): Problem {
  return new Problem('not_found', { detail: 'No directory provisions the team.' });
}

/**
 * The directory loses its access first, then people are removed one by one, so that a repetition after a crash goes on.
 * @throws {Problem} not_found, forbidden
 */
export async function endProvisioning(
  needs: MembershipNeeds,
  person: Person,
  people: 'keep' | 'remove',
): Promise<void> {
  const { query, transact } = needs;
  const team_id = await managedTeam(query, person);
  if ((await findSettings(query, team_id)) === undefined) throw notProvisioned();
  await transact(async (inside) => {
    await lockManagedTeam(inside, person);
    await deleteScimTokens(inside, team_id);
  });
  if (people === 'remove') await removePeople(needs, person, team_id);
  await transact(async (inside) => {
    const team = await lockManagedTeam(inside, person);
    for (const { account_id, email } of await withoutPassword(inside, team.team_id, NO_PASSWORD)) {
      const mail: ProvisioningMail = { kind: 'team_provisioning_ended', recipient: email, account_id };
      await enqueueMail(inside, mail);
    }
    await deleteSettings(inside, team.team_id);
    await auditTeam(inside, person, team, 'team_provisioning_ended', { people });
  });
  needs.wakeMails();
}

async function removePeople(needs: MembershipNeeds, person: Person, team_id: number): Promise<void> {
  const directory = { team_id, scim_token_id: 0, actor: person.actor };
  for (;;) {
    const next = await nextToRemove(needs.query, team_id);
    if (next === undefined) return;
    // Gone, or made the manager, at this moment: the next look leaves them out.
    await deleteUser(needs, directory, next, undefined).catch((error: unknown) => {
      if (!(error instanceof ScimError)) throw error;
    });
  }
}
