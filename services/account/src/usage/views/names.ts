import type { APPLICATION_TYPES } from '@tollgate/contracts/application-types';
import type { Query } from '../../platform/database/query.ts';
import type { GroupBy } from './input.ts';

/** Null if the application is unknown: reported usage need not name an existing one. */
type ApplicationNames = {
  account_id: number | null;
  name: string | null;
  type: (typeof APPLICATION_TYPES)[number] | null;
  status: 'active' | 'revoked' | 'deleted' | null;
};

type MemberNames = { name: string | null; email: string | null; in_team: boolean };

export type Names = Partial<ApplicationNames> | Partial<MemberNames>;

const UNKNOWN: Record<GroupBy, Names> = {
  none: {},
  application: { account_id: null, name: null, type: null, status: null },
  member: { name: null, email: null, in_team: false },
  api_version: {},
};

export type Viewer = { account_id: number; isOperator: boolean };

/**
 * An e-mail address is visible to its owner, to current members of the team and to operators: a former member may
 * have a new one.
 */
export async function findNames(
  query: Query,
  groupBy: GroupBy,
  ids: readonly (number | string)[],
  viewer: Viewer,
): Promise<(id: number | string) => Names> {
  const found = await findRows(query, groupBy, ids, viewer);
  const names = new Map(found.map(({ id, ...name }) => [id, name]));
  return (id) => names.get(id) ?? UNKNOWN[groupBy];
}

type NamedRow = (ApplicationNames | MemberNames) & { id: number | string };

async function findRows(
  query: Query,
  groupBy: GroupBy,
  ids: readonly (number | string)[],
  viewer: Viewer,
): Promise<NamedRow[]> {
  if (groupBy === 'application') return query<NamedRow>(APPLICATIONS_SQL, { ids });
  if (groupBy === 'member') return query<NamedRow>(MEMBERS_SQL, { ids, ...viewer });
  return [];
}

/** Includes deleted applications and the hidden ones of temporary tokens. */
const APPLICATIONS_SQL = `
  SELECT application_id AS id, account_id, name, type, status FROM applications
  WHERE application_id = ANY (CAST(:ids AS bigint[]))`;

const MEMBERS_SQL = `
  SELECT account_id AS id, name, in_team,
         CASE WHEN in_team OR account_id = :account_id OR :isOperator THEN email END AS email
  FROM accounts CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM team_members AS own JOIN team_members AS their USING (team_id)
      WHERE own.account_id = :account_id AND their.account_id = accounts.account_id) AS in_team
  ) AS place
  WHERE account_id = ANY (CAST(:ids AS bigint[]))`;
