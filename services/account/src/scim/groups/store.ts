import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';

export type ScimGroup = {
  scim_group_id: string;
  team_id: number;
  display_name: string;
  external_id: string | null;
  version: number;
  created_at: Date;
  updated_at: Date;
  /** Null if they weren't asked for. */
  members: string[] | null;
};

export const GROUP_FILTERS = ['displayName', 'externalId', 'id'] as const;

type GroupFilterName = (typeof GROUP_FILTERS)[number];

export type GroupFilter = readonly { name: GroupFilterName; value: string }[];

const CONDITIONS: Readonly<Record<GroupFilterName, (binding: string) => string>> = {
  displayName: (binding) => `lower(display_name) = lower(${binding})`,
  externalId: (binding) => `external_id = ${binding}`,
  id: (binding) => `CAST(scim_group_id AS text) = ${binding}`,
};

const MEMBERS = `coalesce((
  SELECT json_agg(scim_user_id ORDER BY scim_user_id) FROM scim_group_members
  WHERE scim_group_members.scim_group_id = scim_groups.scim_group_id), '[]') AS members`;

const COLUMNS = 'scim_group_id, team_id, display_name, external_id, version, created_at, updated_at';

const columns = (withMembers: boolean) => `${COLUMNS}, ${withMembers ? MEMBERS : 'NULL AS members'}`;

function condition(filter: GroupFilter): { sql: string; bindings: Record<string, string> } {
  const parts = filter.map(({ name }, index) => CONDITIONS[name](`:filter${String(index)}`));
  return {
    sql: ['team_id = :team_id', ...parts].join(' AND '),
    bindings: Object.fromEntries(filter.map(({ value }, index) => [`filter${String(index)}`, value])),
  };
}

export async function countGroups(query: Query, team_id: number, filter: GroupFilter): Promise<number> {
  const { sql, bindings } = condition(filter);
  const rows = await query<{ count: number }>(`SELECT count(*) AS count FROM scim_groups WHERE ${sql}`, {
    team_id,
    ...bindings,
  });
  return singleRow(rows).count;
}

/** In the order in which they were created. */
export function listGroups(
  query: Query,
  team_id: number,
  filter: GroupFilter,
  { offset, count, withMembers }: { offset: number; count: number; withMembers: boolean },
): Promise<ScimGroup[]> {
  const { sql, bindings } = condition(filter);
  return query<ScimGroup>(
    `SELECT ${columns(withMembers)} FROM scim_groups WHERE ${sql}
     ORDER BY created_at, scim_group_id OFFSET :offset LIMIT :count`,
    { team_id, offset, count, ...bindings },
  );
}

type Key = { team_id: number; scim_group_id: string };

export async function findGroup(
  query: Query,
  key: Key,
  { withMembers }: { withMembers: boolean },
): Promise<ScimGroup | undefined> {
  const rows = await query<ScimGroup>(
    `SELECT ${columns(withMembers)} FROM scim_groups
     WHERE team_id = :team_id AND scim_group_id = :scim_group_id`,
    key,
  );
  return rows[0];
}

export async function insertGroup(
  query: Query,
  made: Pick<ScimGroup, 'team_id' | 'display_name' | 'external_id'>,
): Promise<string> {
  const rows = await query<{ scim_group_id: string }>(
    `INSERT INTO scim_groups (team_id, display_name, external_id)
     VALUES (:team_id, :display_name, :external_id) RETURNING scim_group_id`,
    made,
  );
  return singleRow(rows).scim_group_id;
}

export async function setGroup(
  query: Query,
  group: Pick<ScimGroup, 'scim_group_id' | 'display_name' | 'external_id'>,
): Promise<void> {
  await query(
    `UPDATE scim_groups SET display_name = :display_name, external_id = :external_id,
       version = version + 1, updated_at = now()
     WHERE scim_group_id = :scim_group_id`,
    group,
  );
}

export async function deleteGroup(query: Query, { scim_group_id }: Key): Promise<void> {
  await query('DELETE FROM scim_groups WHERE scim_group_id = :scim_group_id', { scim_group_id });
}

export async function removeMembers(
  query: Query,
  scim_group_id: string,
  users: readonly string[],
): Promise<void> {
  await query(
    `DELETE FROM scim_group_members
     WHERE scim_group_id = :scim_group_id AND scim_user_id = ANY (CAST(:users AS uuid[]))`,
    { scim_group_id, users },
  );
}

/** Returns those that are users of the team, and so members now. */
export async function addMembers(
  query: Query,
  { team_id, scim_group_id }: Key,
  users: readonly string[],
): Promise<string[]> {
  const rows = await query<{ scim_user_id: string }>(
    `INSERT INTO scim_group_members (scim_group_id, scim_user_id)
     SELECT CAST(:scim_group_id AS uuid), scim_user_id FROM scim_users
     WHERE team_id = :team_id AND deleted_at IS NULL AND scim_user_id = ANY (CAST(:users AS uuid[]))
     RETURNING scim_user_id`,
    { team_id, scim_group_id, users },
  );
  return rows.map(({ scim_user_id }) => scim_user_id);
}
