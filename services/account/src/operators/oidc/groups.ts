import type { OperatorRole } from '@tollgate/contracts/operator-roles';

/** What `OPERATORS_OIDC_GROUPS` says: each group's role, in the order of the setting. */
export type GroupRoles = ReadonlyMap<string, OperatorRole>;

/** Why an identity has no role; each is a message of its own, since each is put right elsewhere. */
export type NoRole = 'no_groups_claim' | 'too_many_groups' | 'no_group' | 'unmapped_groups';

/** `groups`: those that it has, as text to show. */
export type FoundRole = { role: OperatorRole } | { role: null; why: NoRole; groups: string };

/** Beyond this the claim is refused as a whole: part of the groups could be the wrong part. */
const MAX_GROUPS = 1_000;

/** Whether the claims say themselves which groups there are, or that there are too many to say. */
export function saysGroups(claims: Readonly<Record<string, unknown>>): boolean {
  return groupsClaim(claims) !== undefined;
}

/**
 * Names are compared exactly. Support and finance don't include each other: of these two, the one that the setting has
 * first.
 */
export function roleOf(claims: Readonly<Record<string, unknown>>, roles: GroupRoles): FoundRole {
  const claim = groupsClaim(claims);
  if (claim === undefined) {
    return without(isOverage(claims) ? 'too_many_groups' : 'no_groups_claim');
  }
  const groups = typeof claim === 'string' ? [claim] : claim;
  if (!Array.isArray(groups)) return without('no_groups_claim');
  if (groups.length > MAX_GROUPS) return without('too_many_groups');
  const held = new Set<unknown>(groups);
  const found = [...roles].filter(([group]) => held.has(group)).map(([, role]) => role);
  const role = found.find((one) => one === 'admin') ?? found.find((one) => one !== 'viewer') ?? found[0];
  if (role !== undefined) return { role };
  if (groups.length === 0 || claim === '') return without('no_group');
  return without('unmapped_groups', groups);
}

const SHOWN_GROUPS = 5;
const SHOWN_CHARACTERS = 60;

function without(why: NoRole, groups: readonly unknown[] = []): FoundRole {
  const texts = groups.filter((group) => typeof group === 'string');
  const shown = texts.slice(0, SHOWN_GROUPS).map((group) => group.replaceAll(/\p{C}/gu, ' '));
  const short = shown.map((group) =>
    group.length > SHOWN_CHARACTERS ? `${group.slice(0, SHOWN_CHARACTERS)}…` : group,
  );
  return { role: null, why, groups: [...short, ...(texts.length > SHOWN_GROUPS ? ['…'] : [])].join(', ') };
}

/** Entra has app roles in `roles`, and sends no `groups` then. */
function groupsClaim({ groups, roles }: Readonly<Record<string, unknown>>): unknown {
  return groups ?? roles;
}

/** How Entra says that it leaves out the groups, since they are too many (aggregated claims, OpenID Connect Core 5.6.2). */
function isOverage({ hasgroups, _claim_names }: Readonly<Record<string, unknown>>): boolean {
  return (
    hasgroups === true ||
    hasgroups === 'true' ||
    (typeof _claim_names === 'object' && _claim_names !== null && 'groups' in _claim_names)
  );
}
