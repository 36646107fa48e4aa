import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';
import { roleOf, saysGroups } from './groups.ts';

const ROLES: ReadonlyMap<string, OperatorRole> = new Map([
  ['everyone', 'viewer'],
  ['books', 'finance'],
  ['help', 'support'],
  ['root', 'admin'],
]);

describe('the role of groups', () => {
  test.each([
    [{ groups: ['everyone'] }, 'viewer'],
    [{ groups: 'help' }, 'support'],
    [{ groups: ['everyone', 'root', 'help'] }, 'admin'],
    [{ groups: ['help', 'everyone'] }, 'support'],
    // The setting has finance first.
    [{ groups: ['help', 'books'] }, 'finance'],
    [{ roles: ['root'] }, 'admin'],
    [{ groups: ['everyone'], roles: ['root'] }, 'viewer'],
  ])('of %j is %s', (claims, role) => {
    expect(roleOf(claims, ROLES)).toEqual({ role });
  });

  test.each([
    [{}, 'no_groups_claim'],
    [{ groups: { root: true } }, 'no_groups_claim'],
    [{ hasgroups: true }, 'too_many_groups'],
    [{ hasgroups: 'true' }, 'too_many_groups'],
    [{ _claim_names: { groups: 'src1' } }, 'too_many_groups'],
    [{ groups: Array.from({ length: 1_001 }, () => 'root') }, 'too_many_groups'],
    [{ groups: [] }, 'no_group'],
    [{ groups: '' }, 'no_group'],
    [{ groups: ['Root', 'root ', '*', ['root'], 1] }, 'unmapped_groups'],
  ])('there is none for %j: %s', (claims, why) => {
    expect(roleOf(claims, ROLES)).toMatchObject({ role: null, why });
  });

  test('no group gives more than the setting says, whatever is sent', () => {
    const sent = fc.oneof(
      fc.array(fc.oneof(fc.constantFrom(...ROLES.keys()), fc.string())),
      fc.string(),
      fc.anything(),
    );
    fc.assert(
      fc.property(sent, (groups) => {
        const found = roleOf({ groups }, ROLES);
        const held = Array.isArray(groups) ? groups : [groups];
        const allowed = held.map((group) => ROLES.get(group as string));
        expect(found.role === null || allowed.includes(found.role)).toBe(true);
        if (found.role !== null) expect(OPERATOR_ROLES).toContain(found.role);
      }),
    );
  });

  test('userinfo is asked only if nothing is said', () => {
    expect([{}, { groups: [] }, { roles: 'x' }].map(saysGroups)).toEqual([false, true, true]);
  });
});
