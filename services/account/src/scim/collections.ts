import { createGroup, changeGroup, removeGroup } from './groups/changes.ts';
import { groupResource } from './groups/group.ts';
import { GROUP_FILTERS, countGroups, findGroup, listGroups } from './groups/store.ts';
import { changeUser, createUser, deleteUser } from './people/changes.ts';
import type { Directory } from './people/changes.ts';
import type { MembershipNeeds } from './people/membership.ts';
import { USER_FILTERS, countUsers, findUser, listUsers } from './people/store.ts';
import { userResource } from './people/user.ts';
import type { Kind, Values } from './protocol/attributes.ts';
import { parseFilter } from './protocol/filter.ts';
import { GROUP, USER } from './protocol/kinds.ts';
import type { ListPage } from './protocol/list.ts';
import type { Precondition } from './protocol/precondition.ts';
import { locationOf } from './protocol/resource.ts';
import type { Projection, Resource } from './protocol/resource.ts';

/** What a resource type has in common with the other, for the routes. */
export type Collection = {
  kind: Kind;
  locationOf: (id: string) => string;
  /** @throws {ScimError} invalidFilter */
  count: (teamId: number, filter: string | undefined) => Promise<number>;
  /** May give fewer than were asked for. @throws {ScimError} invalidFilter */
  list: (
    teamId: number,
    wanted: { filter: string | undefined; page: ListPage; projection: Projection },
  ) => Promise<Resource[]>;
  find: (teamId: number, id: string, projection: Projection) => Promise<Resource | undefined>;
  /** Returns its id. @throws {ScimError} */
  create: (directory: Directory, wanted: Values) => Promise<string>;
  /** @throws {ScimError} */
  change: (
    directory: Directory,
    id: string,
    how: { change: (before: Values) => Values; precondition: Precondition },
  ) => Promise<void>;
  /** @throws {ScimError} */
  remove: (directory: Directory, id: string, precondition: Precondition) => Promise<void>;
};

export function usersCollection(needs: MembershipNeeds, baseUrl: string): Collection {
  const { query } = needs;
  const filterOf = (text: string | undefined) =>
    text === undefined ? [] : parseFilter(text, { schemaId: USER.schema.id, known: USER_FILTERS });
  return {
    kind: USER,
    locationOf: (id) => locationOf(baseUrl, USER, id),
    count: (teamId, filter) => countUsers(query, teamId, filterOf(filter)),
    list: async (teamId, { filter, page, projection }) =>
      (await listUsers(query, teamId, filterOf(filter), page)).map((user) =>
        userResource(user, baseUrl, projection),
      ),
    find: async (team_id, scim_user_id, projection) => {
      const user = await findUser(query, { team_id, scim_user_id });
      return user === undefined ? undefined : userResource(user, baseUrl, projection);
    },
    create: (directory, wanted) => createUser(needs, directory, wanted),
    change: (directory, id, how) => changeUser(needs, directory, id, how),
    remove: (directory, id, precondition) => deleteUser(needs, directory, id, precondition),
  };
}

/** A page of groups with their members can be long. */
const GROUPS_WITH_MEMBERS_PER_PAGE = 20;

export function groupsCollection(
  needs: Pick<MembershipNeeds, 'query' | 'transact'>,
  baseUrl: string,
): Collection {
  const { query } = needs;
  const filterOf = (text: string | undefined) =>
    text === undefined ? [] : parseFilter(text, { schemaId: GROUP.schema.id, known: GROUP_FILTERS });
  return {
    kind: GROUP,
    locationOf: (id) => locationOf(baseUrl, GROUP, id),
    count: (teamId, filter) => countGroups(query, teamId, filterOf(filter)),
    list: async (teamId, { filter, page, projection }) => {
      const withMembers = hasMembers(projection);
      const count = withMembers ? Math.min(page.count, GROUPS_WITH_MEMBERS_PER_PAGE) : page.count;
      const groups = await listGroups(query, teamId, filterOf(filter), { ...page, count, withMembers });
      return groups.map((group) => groupResource(group, baseUrl, projection));
    },
    find: async (team_id, scim_group_id, projection) => {
      const wanted = { withMembers: hasMembers(projection) };
      const group = await findGroup(query, { team_id, scim_group_id }, wanted);
      return group === undefined ? undefined : groupResource(group, baseUrl, projection);
    },
    create: (directory, wanted) => createGroup(needs, directory, wanted),
    change: (directory, id, how) => changeGroup(needs, directory, id, how),
    remove: (directory, id, precondition) => removeGroup(needs, directory, id, precondition),
  };
}

/** Whether an answer can have them: they aren't read for nothing. */
function hasMembers({ attributes, excluded }: Projection): boolean {
  if (excluded.some((name) => name.endsWith('members'))) return false;
  return attributes === null || attributes.some((name) => /(?:^|:)members(?:\.|$)/.test(name));
}
