import { isDeepStrictEqual } from 'node:util';
import { isUniqueViolation } from '../../platform/database/query.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { auditTeam } from '../../teams/changes.ts';
import { lockTeams, managerOf } from '../../teams/store.ts';
import type { Team } from '../../teams/store.ts';
import type { Directory } from '../people/changes.ts';
import type { Values } from '../protocol/attributes.ts';
import { assertUnchanged } from '../protocol/precondition.ts';
import type { Precondition } from '../protocol/precondition.ts';
import { ScimError, invalidValue, noSuchResource, uniqueness } from '../protocol/scim-error.ts';
import { applyRoles } from '../settings/roles.ts';
import { memberIds, valuesOf } from './group.ts';
import {
  addMembers,
  countGroups,
  deleteGroup,
  findGroup,
  insertGroup,
  removeMembers,
  setGroup,
} from './store.ts';
import type { ScimGroup } from './store.ts';

/** The team's lock serializes changes of groups, and of the roles that follow from them. */

const MAX_GROUPS_PER_TEAM = 1_000;

type Needs = { query: Query; transact: Transact };

/** @throws {ScimError} */
export function createGroup(needs: Needs, directory: Directory, wanted: Values): Promise<string> {
  return inTeam(needs, directory, async (inside, team) => {
    const { team_id } = team;
    if ((await countGroups(inside, team_id, [])) >= MAX_GROUPS_PER_TEAM) {
      throw new ScimError(403, undefined, `A team can have at most ${String(MAX_GROUPS_PER_TEAM)} groups.`);
    }
    const columns = columnsOf(wanted);
    const scim_group_id = await insertGroup(inside, { team_id, ...columns });
    const users = memberIds(wanted);
    await add(inside, { team_id, scim_group_id }, users);
    await record(inside, directory, team, columns.display_name);
    await applyRoles(inside, team, users, directory.actor);
    return scim_group_id;
  });
}

/** PUT and PATCH. @throws {ScimError} */
export async function changeGroup(
  needs: Needs,
  directory: Directory,
  scimGroupId: string,
  { change, precondition }: { change: (before: Values) => Values; precondition: Precondition },
): Promise<void> {
  await inTeam(needs, directory, async (inside, team) => {
    const group = await found(inside, directory, scimGroupId);
    assertUnchanged(group, precondition);
    const before = valuesOf(group);
    const after = change(before);
    if (isDeepStrictEqual(before, after)) return;
    const columns = columnsOf(after);
    await setGroup(inside, { scim_group_id: scimGroupId, ...columns });
    const [had, has] = [new Set(memberIds(before)), new Set(memberIds(after))];
    const removed = [...had].filter((user) => !has.has(user));
    const added = [...has].filter((user) => !had.has(user));
    await removeMembers(inside, scimGroupId, removed);
    await add(inside, { team_id: team.team_id, scim_group_id: scimGroupId }, added);
    await record(inside, directory, team, columns.display_name);
    // A new name can have another role for all of them.
    const isRenamed = columns.display_name !== group.display_name;
    await applyRoles(inside, team, isRenamed ? [...had, ...added] : [...removed, ...added], directory.actor);
  });
}

/** @throws {ScimError} */
export async function removeGroup(
  needs: Needs,
  directory: Directory,
  scimGroupId: string,
  precondition: Precondition,
): Promise<void> {
  await inTeam(needs, directory, async (inside, team) => {
    const group = await found(inside, directory, scimGroupId);
    assertUnchanged(group, precondition);
    await deleteGroup(inside, group);
    await record(inside, directory, team, group.display_name);
    await applyRoles(inside, team, memberIds(valuesOf(group)), directory.actor);
  });
}

async function inTeam<T>(
  { transact }: Needs,
  { team_id }: Directory,
  work: (inside: Query, team: Team) => Promise<T>,
): Promise<T> {
  try {
    return await transact(async (inside) => {
      const [team] = await lockTeams(inside, [team_id]);
      if (team === undefined) throw noSuchResource();
      return work(inside, team);
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw uniqueness('There is a group with this displayName already.');
  }
}

async function found(query: Query, { team_id }: Directory, scimGroupId: string): Promise<ScimGroup> {
  const key = { team_id, scim_group_id: scimGroupId };
  const group = await findGroup(query, key, { withMembers: true });
  if (group === undefined) throw noSuchResource();
  return group;
}

function columnsOf({ displayName, externalId }: Values): Pick<ScimGroup, 'display_name' | 'external_id'> {
  if (typeof displayName !== 'string' || displayName === '') throw invalidValue('displayName is required.');
  return { display_name: displayName, external_id: typeof externalId === 'string' ? externalId : null };
}

async function add(
  query: Query,
  key: { team_id: number; scim_group_id: string },
  users: readonly string[],
): Promise<void> {
  const added = await addMembers(query, key, users);
  if (added.length === users.length) return;
  const unknown = users.find((user) => !added.includes(user)) ?? '';
  throw invalidValue(`There is no user with the id ${unknown}.`);
}

async function record(query: Query, { actor }: Directory, team: Team, name: string): Promise<void> {
  const account_id = await managerOf(query, team.team_id);
  await auditTeam(query, { account_id, actor }, team, 'team_group_changed', { name });
}
