import { singleRow } from '../../platform/database/single-row.ts';
import type { Query } from '../../platform/database/query.ts';
import type { MemberRole } from '../../identity/accounts/member-roles.ts';
import type { Values } from '../protocol/attributes.ts';

/** A person as the team's directory knows them. */
export type ScimUser = {
  scim_user_id: string;
  team_id: number;
  account_id: number;
  user_name: string;
  external_id: string | null;
  attributes: Values;
  made_account: boolean;
  provisioned_at: Date | null;
  left_at: Date | null;
  assigned_role: MemberRole | null;
  version: number;
  created_at: Date;
  updated_at: Date;
  /** Whether the person is in the team. */
  active: boolean;
  groups: { value: string; display: string }[];
};

const COLUMNS = `scim_user_id, scim_users.team_id, scim_users.account_id, user_name, external_id, attributes,
  made_account, provisioned_at, left_at, assigned_role, version, created_at, updated_at,
  EXISTS (SELECT FROM team_members WHERE team_members.account_id = scim_users.account_id
    AND team_members.team_id = scim_users.team_id) AS active,
  coalesce((SELECT json_agg(json_build_object('value', scim_group_id, 'display', display_name) ORDER BY display_name)
    FROM scim_group_members JOIN scim_groups USING (scim_group_id)
    WHERE scim_group_members.scim_user_id = scim_users.scim_user_id), '[]') AS groups`;

export type UserFilter = readonly { name: UserFilterName; value: string }[];

export const USER_FILTERS = ['userName', 'externalId', 'emails.value', 'displayName', 'id'] as const;

type UserFilterName = (typeof USER_FILTERS)[number];

const CONDITIONS: Readonly<Record<UserFilterName, (binding: string) => string>> = {
  userName: (binding) => `lower(user_name) = lower(${binding})`,
  externalId: (binding) => `external_id = ${binding}`,
  'emails.value': (binding) => `EXISTS (
    SELECT FROM jsonb_array_elements(coalesce(attributes -> 'emails', '[]')) AS email
    WHERE lower(email ->> 'value') = lower(${binding}))`,
  displayName: (binding) => `lower(attributes ->> 'displayName') = lower(${binding})`,
  id: (binding) => `CAST(scim_user_id AS text) = ${binding}`,
};

function condition(filter: UserFilter): { sql: string; bindings: Record<string, string> } {
  const parts = filter.map(({ name }, index) => CONDITIONS[name](`:filter${String(index)}`));
  return {
    sql: ['scim_users.team_id = :team_id', 'deleted_at IS NULL', ...parts].join(' AND '),
    bindings: Object.fromEntries(filter.map(({ value }, index) => [`filter${String(index)}`, value])),
  };
}

export async function countUsers(query: Query, team_id: number, filter: UserFilter): Promise<number> {
  const { sql, bindings } = condition(filter);
  const rows = await query<{ count: number }>(`SELECT count(*) AS count FROM scim_users WHERE ${sql}`, {
    team_id,
    ...bindings,
  });
  return singleRow(rows).count;
}

/** In the order in which they were created. */
export function listUsers(
  query: Query,
  team_id: number,
  filter: UserFilter,
  { offset, count }: { offset: number; count: number },
): Promise<ScimUser[]> {
  const { sql, bindings } = condition(filter);
  return query<ScimUser>(
    `SELECT ${COLUMNS} FROM scim_users WHERE ${sql}
     ORDER BY created_at, scim_user_id OFFSET :offset LIMIT :count`,
    { team_id, offset, count, ...bindings },
  );
}

type Key = { team_id: number; scim_user_id: string };

export async function findUser(query: Query, key: Key): Promise<ScimUser | undefined> {
  const rows = await query<ScimUser>(
    `SELECT ${COLUMNS} FROM scim_users
     WHERE scim_user_id = :scim_user_id AND team_id = :team_id AND deleted_at IS NULL`,
    key,
  );
  return rows[0];
}

/** The team is locked. */
export async function findUserOf(
  query: Query,
  key: { team_id: number; account_id: number; user_name: string },
): Promise<ScimUser | undefined> {
  const rows = await query<ScimUser>(
    `SELECT ${COLUMNS} FROM scim_users
     WHERE team_id = :team_id AND deleted_at IS NULL
       AND (account_id = :account_id OR lower(user_name) = lower(:user_name))
     LIMIT 1`,
    key,
  );
  return rows[0];
}

/** Whether the team's directory had the account before, and made it. Undefined if it never had it. */
export async function formerUse(
  query: Query,
  key: { team_id: number; account_id: number },
): Promise<{ made_account: boolean } | undefined> {
  const rows = await query<{ made_account: boolean }>(
    `SELECT made_account FROM scim_users WHERE team_id = :team_id AND account_id = :account_id
     ORDER BY made_account DESC LIMIT 1`,
    key,
  );
  return rows[0];
}

export async function insertUser(
  query: Query,
  made: Pick<
    ScimUser,
    'team_id' | 'account_id' | 'user_name' | 'external_id' | 'attributes' | 'made_account'
  >,
): Promise<string> {
  const rows = await query<{ scim_user_id: string }>(
    `INSERT INTO scim_users (team_id, account_id, user_name, external_id, attributes, made_account)
     VALUES (:team_id, :account_id, :user_name, :external_id, :attributes, :made_account) RETURNING scim_user_id`,
    { ...made, attributes: JSON.stringify(made.attributes) },
  );
  return singleRow(rows).scim_user_id;
}

export async function setUser(
  query: Query,
  {
    scim_user_id,
    user_name,
    external_id,
    attributes,
  }: Pick<ScimUser, 'scim_user_id' | 'user_name' | 'external_id' | 'attributes'>,
): Promise<void> {
  await query(
    `UPDATE scim_users SET user_name = :user_name, external_id = :external_id, attributes = :attributes,
       version = version + 1, updated_at = now()
     WHERE scim_user_id = :scim_user_id`,
    { scim_user_id, user_name, external_id, attributes: JSON.stringify(attributes) },
  );
}

export async function setProvisioned(
  query: Query,
  { scim_user_id, assigned_role }: Pick<ScimUser, 'scim_user_id' | 'assigned_role'>,
): Promise<void> {
  await query(
    `UPDATE scim_users SET provisioned_at = now(), left_at = NULL, assigned_role = :assigned_role
     WHERE scim_user_id = :scim_user_id`,
    { scim_user_id, assigned_role },
  );
}

export async function setDeprovisioned(query: Query, scimUserId: string): Promise<void> {
  await query(
    `UPDATE scim_users SET provisioned_at = NULL, left_at = NULL, assigned_role = NULL
     WHERE scim_user_id = :scimUserId`,
    { scimUserId },
  );
}

/** Nothing of the person is kept but whose user it was, once for each account: later users have `made_account` of it. */
export async function setDeleted(query: Query, scimUserId: string): Promise<void> {
  await query(
    `DELETE FROM scim_users AS former USING scim_users AS last
     WHERE last.scim_user_id = :scimUserId AND former.team_id = last.team_id
       AND former.account_id = last.account_id AND former.deleted_at IS NOT NULL`,
    { scimUserId },
  );
  await query('DELETE FROM scim_group_members WHERE scim_user_id = :scimUserId', { scimUserId });
  await query(
    `UPDATE scim_users SET deleted_at = now(), external_id = NULL, attributes = '{}'
     WHERE scim_user_id = :scimUserId`,
    { scimUserId },
  );
}

export async function noteRefusal(query: Query, team_id: number, email: string): Promise<void> {
  await query(
    `INSERT INTO scim_refusals (team_id, email) VALUES (:team_id, lower(:email))
     ON CONFLICT (team_id, email) DO UPDATE SET refused_at = now()`,
    { team_id, email },
  );
}

export async function deleteRefusal(query: Query, team_id: number, email: string): Promise<void> {
  await query('DELETE FROM scim_refusals WHERE team_id = :team_id AND email = lower(:email)', {
    team_id,
    email,
  });
}
