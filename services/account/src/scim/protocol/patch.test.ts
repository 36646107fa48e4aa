import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Kind, Values } from './attributes.ts';
import { entriesOf } from './attributes.ts';
import { GROUP, USER } from './kinds.ts';
import { patched } from './patch.ts';
import { readResource } from './read-value.ts';
import { ScimError } from './scim-error.ts';

/** What Entra ID and Okta send, and what they may send by mistake. */

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const ID = '2819c223-7f76-453a-919d-413861904646';
const OTHER = '902c246b-6245-4190-8e05-00816be7344a';

const GRACE: Values = {
  userName: 'grace@example.com',
  active: true,
  name: { givenName: 'Grace', familyName: 'Hopper' },
  emails: [{ value: 'grace@example.com', type: 'work', primary: true }],
};

const change = (kind: Kind, before: Values, ...Operations: unknown[]) =>
  patched(kind, before, { Operations });

function refusal(work: () => unknown): [number, string | undefined] {
  try {
    work();
  } catch (error) {
    if (error instanceof ScimError) return [error.scimStatus, error.scimType];
    throw error;
  }
  return [200, undefined];
}

describe('of a user', () => {
  test.each<[string, unknown[], Values]>([
    ['active as text', [{ op: 'Replace', path: 'active', value: 'False' }], { active: false }],
    ['active without a path', [{ op: 'replace', value: { active: false } }], { active: false }],
    ['an operation in capitals', [{ op: 'REPLACE', path: 'ACTIVE', value: 'TRUE' }], { active: true }],
    [
      'dotted members without a path',
      [{ op: 'Add', value: { 'name.familyName': 'Murray', title: 'Dr' } }],
      { name: { givenName: 'Grace', familyName: 'Murray' }, title: 'Dr' },
    ],
    [
      'a part of the name',
      [{ op: 'Replace', path: 'name.givenName', value: 'Amazing' }],
      { name: { givenName: 'Amazing', familyName: 'Hopper' } },
    ],
    [
      'an address of a type that is there',
      [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'g@example.com' }],
      { emails: [{ value: 'g@example.com', type: 'work', primary: true }] },
    ],
    [
      'an address of a type that is not there',
      [{ op: 'Add', path: 'emails[type eq "home"].value', value: 'g@example.com' }],
      {
        emails: [
          { value: 'grace@example.com', type: 'work', primary: true },
          { value: 'g@example.com', type: 'home' },
        ],
      },
    ],
    [
      'a second primary address',
      [{ op: 'add', path: 'emails', value: [{ value: 'g@example.com', primary: true }] }],
      {
        emails: [
          { value: 'grace@example.com', type: 'work', primary: false },
          { value: 'g@example.com', primary: true },
        ],
      },
    ],
    [
      'attributes of the extension, with its name',
      [
        { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Navy' },
        { op: 'Add', path: `${ENTERPRISE}:manager`, value: ID },
      ],
      { [`${ENTERPRISE}:department`]: 'Navy', [`${ENTERPRISE}:manager`]: { value: ID } },
    ],
    [
      'the extension as a whole',
      [{ op: 'replace', value: { [ENTERPRISE]: { employeeNumber: 701, unknown: true } } }],
      { [`${ENTERPRISE}:employeeNumber`]: '701' },
    ],
    [
      'an attribute with the name of its schema',
      [{ op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:displayName', value: 'G' }],
      { displayName: 'G' },
    ],
    [
      'unknown members beside known ones',
      [{ op: 'replace', value: { nonsense: 1, title: 'Dr' } }],
      { title: 'Dr' },
    ],
  ])('%s', (_what, operations, changes) => {
    expect(change(USER, GRACE, ...operations)).toEqual({ ...GRACE, ...changes });
  });

  test('values are removed: one, one of a type, all of an extension, and by null', () => {
    const { emails: _emails, ...others } = GRACE;
    expect(change(USER, GRACE, { op: 'remove', path: 'emails' })).toEqual(others);
    expect(change(USER, GRACE, { op: 'Remove', path: 'emails[type eq "work"]' })).toEqual(others);
    expect(change(USER, GRACE, { op: 'replace', path: 'emails', value: [] })).toEqual(others);
    expect(change(USER, GRACE, { op: 'replace', path: 'emails', value: null })).toEqual(others);
    const more = { ...GRACE, [`${ENTERPRISE}:department`]: 'Navy' };
    expect(change(USER, more, { op: 'remove', path: ENTERPRISE })).toEqual(GRACE);
    expect(change(USER, GRACE, { op: 'remove', path: 'emails[type eq "home"]' })).toEqual(GRACE);
  });

  test('the primary value is found as Entra ID writes it, changed, and not added again', () => {
    const setRole = (value: string) => ({ op: 'Replace', path: 'roles[primary eq "True"].value', value });
    const once = change(USER, GRACE, setRole('Reader'));
    expect(once['roles']).toEqual([{ primary: true, value: 'Reader' }]);
    const twice = change(USER, once, setRole('Writer'));
    expect(twice['roles']).toEqual([{ primary: true, value: 'Writer' }]);
    expect(change(USER, twice, { op: 'Remove', path: 'roles[primary eq "true"]' })).toEqual(GRACE);
  });

  test.each<[string, unknown, string]>([
    [
      'a choice that is neither true nor false',
      { op: 'remove', path: 'roles[primary eq "x"]' },
      'invalidValue',
    ],
    ['an unknown path', { op: 'add', path: 'nonsense', value: 1 }, 'invalidPath'],
    ['an unknown sub-attribute', { op: 'add', path: 'name.nonsense', value: 'a' }, 'invalidPath'],
    ['an unknown schema', { op: 'add', path: 'urn:example:User:title', value: 'a' }, 'invalidPath'],
    ['a path that is none', { op: 'add', path: 'emails[type eq', value: 'a' }, 'invalidPath'],
    ['another comparison', { op: 'add', path: 'emails[type ne "work"].value', value: 'a' }, 'invalidPath'],
    ['a filter of one value', { op: 'add', path: 'name[givenName eq "a"]', value: {} }, 'invalidPath'],
    ['values without a choice', { op: 'replace', path: 'emails.value', value: 'a' }, 'invalidPath'],
    ['only unknown members', { op: 'replace', value: { nonsense: 1 } }, 'invalidPath'],
    ['removal without a path', { op: 'remove' }, 'invalidPath'],
    ['a removal of what is required', { op: 'remove', path: 'userName' }, 'invalidValue'],
    ['a read-only attribute', { op: 'replace', path: 'groups', value: [] }, 'mutability'],
    ['an id', { op: 'replace', path: 'id', value: ID }, 'mutability'],
    ['another verb', { op: 'move', path: 'title', value: 'a' }, 'invalidSyntax'],
    ['no value', { op: 'replace', path: 'title' }, 'invalidValue'],
    ['a list for text', { op: 'replace', path: 'title', value: ['a'] }, 'invalidValue'],
    ['text for true or false', { op: 'replace', path: 'active', value: 'yes' }, 'invalidValue'],
    ['a NUL', { op: 'replace', path: 'title', value: 'a\0' }, 'invalidValue'],
    ['half of a character', { op: 'replace', path: 'title', value: '\ud800' }, 'invalidValue'],
    ['long text', { op: 'replace', path: 'title', value: 'a'.repeat(1_025) }, 'invalidValue'],
    [
      'many values',
      { op: 'add', path: 'emails', value: Array.from({ length: 21 }, () => ({ value: 'a' })) },
      'invalidValue',
    ],
    ['a long path', { op: 'add', path: 'a'.repeat(1_001), value: 'a' }, 'invalidPath'],
  ])('%s is refused', (_what, operation, scimType) => {
    expect(refusal(() => change(USER, GRACE, operation))).toEqual([400, scimType]);
  });

  test.each([undefined, null, [], {}, { Operations: {} }, { Operations: [] }, { Operations: [null] }])(
    'the body %j is refused',
    (body) => {
      expect(refusal(() => patched(USER, GRACE, body))).toEqual([400, 'invalidSyntax']);
    },
  );

  test('no attribute grows beyond 20 values, however few are added at a time', () => {
    const add = (first: number, count: number) => ({
      op: 'add',
      path: 'phoneNumbers',
      value: Array.from({ length: count }, (_, index) => ({ value: String(first + index) })),
    });
    const full = change(USER, GRACE, add(0, 12), add(12, 8));
    expect(full['phoneNumbers']).toHaveLength(20);
    expect(refusal(() => change(USER, full, add(20, 1)))).toEqual([400, 'invalidValue']);
    const other = { op: 'add', path: 'phoneNumbers[type eq "pager"].value', value: '1' };
    expect(refusal(() => change(USER, full, other))).toEqual([400, 'invalidValue']);
  });

  test('more than 100 operations are refused', () => {
    const operation = { op: 'replace', path: 'title', value: 'a' };
    const many = Array.from({ length: 101 }, () => operation);
    expect(refusal(() => change(USER, GRACE, ...many))).toEqual([400, 'invalidValue']);
  });
});

describe('of a group, members', () => {
  const group = (...ids: string[]): Values => ({
    displayName: 'Navy',
    ...(ids.length === 0 ? {} : { members: ids.map((value) => ({ value })) }),
  });

  test.each<[string, Values, unknown, Values]>([
    [
      'added are united',
      group(ID),
      { op: 'Add', path: 'members', value: [{ value: ID }, { value: OTHER }] },
      group(ID, OTHER),
    ],
    ['added as an object', group(), { op: 'add', path: 'members', value: { value: ID } }, group(ID)],
    [
      'removed by value',
      group(ID, OTHER),
      { op: 'Remove', path: 'members', value: [{ value: ID }] },
      group(OTHER),
    ],
    [
      'removed by a filter',
      group(ID, OTHER),
      { op: 'remove', path: `members[value eq "${ID}"]` },
      group(OTHER),
    ],
    [
      'removed that are not there',
      group(ID),
      { op: 'remove', path: `members[value eq "${OTHER}"]` },
      group(ID),
    ],
    ['removed without saying which', group(ID, OTHER), { op: 'remove', path: 'members' }, group()],
    ['replaced by none', group(ID), { op: 'replace', path: 'members', value: [] }, group()],
    ['replaced', group(ID), { op: 'replace', path: 'members', value: [{ value: OTHER }] }, group(OTHER)],
    [
      'kept by a new name, as Okta sends it',
      group(ID),
      { op: 'replace', value: { id: OTHER, displayName: 'Navy' } },
      group(ID),
    ],
  ])('%s', (_what, before, operation, after) => {
    expect(change(GROUP, before, operation)).toEqual(after);
  });

  test('thousands are changed in a moment', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => ({ value: `user-${String(index)}` }));
    const began = process.threadCpuUsage();
    const all = change(GROUP, group(), { op: 'add', path: 'members', value: ids });
    expect(change(GROUP, all, { op: 'add', path: 'members', value: ids })).toEqual(all);
    expect(change(GROUP, all, { op: 'remove', path: 'members', value: ids })).toEqual(group());
    // Microseconds of CPU time: other work on the machine doesn't count.
    expect(process.threadCpuUsage(began).user).toBeLessThan(2_000_000);
    const more = { op: 'add', path: 'members', value: { value: 'one more' } };
    expect(refusal(() => change(GROUP, all, more))).toEqual([400, 'invalidValue']);
  });
});

describe('whatever is sent', () => {
  const names = [USER, GROUP].flatMap((kind) => entriesOf(kind).map(({ key }) => key));
  const path = fc.oneof(
    fc.constantFrom(...names),
    fc
      .tuple(
        fc.constantFrom(...names, 'x'),
        fc.constantFrom('', '[type eq "work"]', '[value eq "a" and type eq "b"]', '[', '[a eq 1]', '[]'),
        fc.constantFrom('', '.value', '.givenName', '.', '..a'),
      )
      .map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
    fc.jsonValue(),
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string(),
    fc.boolean(),
    fc.dictionary(fc.constantFrom('value', 'type', 'primary', 'givenName', '__proto__', 'x'), fc.jsonValue()),
    fc.array(fc.record({ value: fc.string(), type: fc.constantFrom('work', 'home') })),
  );
  const operation = fc.record(
    { op: fc.constantFrom('add', 'Replace', 'remove', 'x'), path, value },
    { requiredKeys: ['op'] },
  );

  test.each([USER, GROUP])('PATCH of a $name is carried out or refused, and never breaks', (kind) => {
    const required = kind === USER ? GRACE : { displayName: 'Navy' };
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 5 }), (operations) => {
        let after: Values = required;
        const refused = refusal(() => {
          after = change(kind, required, ...operations);
        });
        expect([200, 400]).toContain(refused[0]);
        // What is kept can be sent back as a whole.
        expect(JSON.parse(JSON.stringify(after))).toEqual(after);
        for (const { key, attribute } of entriesOf(kind)) {
          if (attribute.required) expect(after[key]).toBeDefined();
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('POST and PUT are read or refused, and never break', () => {
    const body = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...names, ENTERPRISE, 'schemas'), value),
    );
    fc.assert(
      fc.property(body, (given) => {
        expect([200, 400]).toContain(refusal(() => readResource(USER, given))[0]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a deep body is no deep recursion', () => {
    const deep: unknown = JSON.parse(`${'{"name":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    expect(refusal(() => readResource(USER, deep))).toEqual([200, undefined]);
    expect(refusal(() => change(USER, GRACE, { op: 'add', path: 'title', value: deep }))).toEqual([
      400,
      'invalidValue',
    ]);
  });
});
