import type { Complex, Values } from '../protocol/attributes.ts';
import { GROUP, USER } from '../protocol/kinds.ts';
import { locationOf, resourceOf } from '../protocol/resource.ts';
import type { Projection, Resource } from '../protocol/resource.ts';
import { invalidValue } from '../protocol/scim-error.ts';
import { isId } from '../protocol/id.ts';
import type { ScimGroup } from './store.ts';

/** As PATCH changes them: of members, who they are. */
export function valuesOf({
  display_name,
  external_id,
  members,
}: Pick<ScimGroup, 'display_name' | 'external_id' | 'members'>): Values {
  return {
    displayName: display_name,
    ...(external_id === null ? {} : { externalId: external_id }),
    ...(members === null || members.length === 0 ? {} : { members: members.map((value) => ({ value })) }),
  };
}

export function groupResource(group: ScimGroup, baseUrl: string, projection: Projection): Resource {
  const { scim_group_id: id, members, version, created_at, updated_at } = group;
  const listed = (members ?? []).map((value) => ({
    value,
    $ref: locationOf(baseUrl, USER, value),
    type: 'User',
  }));
  const { members: _bare, ...values } = valuesOf(group);
  const common = {
    id,
    version,
    created_at,
    updated_at,
    values,
    computed: listed.length === 0 ? {} : { members: listed },
  };
  return resourceOf(GROUP, common, baseUrl, projection);
}

/** The users that a group is to have. @throws {ScimError} invalidValue */
export function memberIds({ members }: Values): string[] {
  if (!Array.isArray(members)) return [];
  const ids = (members as readonly Complex[]).map(({ type, value }) => {
    if (typeof type === 'string' && type.toLowerCase() !== 'user') {
      throw invalidValue('Members of groups must be users; groups in groups are not supported.');
    }
    if (typeof value !== 'string' || !isId(value))
      throw invalidValue('A member’s value must be a user’s id.');
    return value.toLowerCase();
  });
  return [...new Set(ids)];
}
