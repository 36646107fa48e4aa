import type { Query } from '../../platform/database/query.ts';
import type { GroupBy } from './input.ts';

/** What the ids that usage is grouped by stand for. */

/** Null where there is no such application: usage that another system has reported needs none. */
type ApplicationNames = {
  account_id: number | null;
  name: string | null;
  type: 'automatic' | 'manual' | 'temporary' | null;
  status: 'active' | 'revoked' | 'deleted' | null;
};

type MemberNames = { name: string | null; email: string | null; in_team: boolean };

/** Nothing for an API version, which is a name itself. */
export type Names = Partial<ApplicationNames> | Partial<MemberNames>;

const UNKNOWN: Record<GroupBy, Names> = {
  none: {},
  application: { account_id: null, name: null, type: null, status: null },
  member: { name: null, email: null, in_team: false },
  api_version: {},
};

/** Who looks: an account, or an operator at an account. */
export type Viewer = { account_id: number; isOperator: boolean };

/**
 * The names of some ids. An e-mail address is shown of oneself and of who is in one's team now: it isn't the team's
 * any more when somebody has left, and may be a new one since. Operators see all.
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

/** Deleted ones too, and the hidden ones of temporary tokens. */
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
