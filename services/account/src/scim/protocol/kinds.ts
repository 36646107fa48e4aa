import { attribute, complex, plural } from './attributes.ts';
import type { Attribute, Kind, Schema } from './attributes.ts';

/**
 * What the directory may send of people and groups. `userName`, `active`, `displayName` and `name` have a meaning here;
 * the rest is what Entra ID and Okta send without being told otherwise, and is kept so that they find it again.
 */

const READ_ONLY = { mutability: 'readOnly' } as const;

const text = (...names: string[]): Attribute[] => names.map((name) => attribute(name, 'Text.'));

const externalId = attribute('externalId', 'The directory’s own identifier.', { caseExact: true });

const reference = (referenceTypes: readonly string[], changes: Partial<Attribute> = {}) =>
  attribute('$ref', 'The URI of the resource.', {
    type: 'reference',
    referenceTypes,
    caseExact: true,
    ...changes,
  });

const USER_SCHEMA: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A person in the team.',
  attributes: [
    attribute('userName', 'The email address, in a domain that the team has proven.', {
      required: true,
      uniqueness: 'server',
    }),
    externalId,
    complex(
      'name',
      'The name in parts.',
      text('formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'),
    ),
    attribute('displayName', 'The name as it is shown; else it is made of the parts.'),
    // Its removal would leave open whether the person is in the team.
    attribute('active', 'Whether the person is in the team.', { type: 'boolean', required: true }),
    ...text('nickName', 'title', 'userType', 'preferredLanguage', 'locale', 'timezone'),
    attribute('profileUrl', 'A page about the person.', { type: 'reference', referenceTypes: ['external'] }),
    plural('emails', 'Email addresses. Mails go to `userName`.', { types: ['work', 'home', 'other'] }),
    plural('phoneNumbers', 'Phone numbers.', {
      types: ['work', 'home', 'mobile', 'fax', 'pager', 'other'],
    }),
    plural('addresses', 'Postal addresses.', {
      of: text('formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'),
      types: ['work', 'home', 'other'],
    }),
    plural('roles', 'Roles in the directory. Roles in the team follow from groups.'),
    complex(
      'groups',
      'The groups that the person is in.',
      [
        attribute('value', 'The group’s id.', { ...READ_ONLY, caseExact: true }),
        reference(['Group'], READ_ONLY),
        attribute('display', 'The group’s name.', READ_ONLY),
      ],
      { ...READ_ONLY, multiValued: true },
    ),
  ],
};

const ENTERPRISE_SCHEMA: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'A person in a company.',
  attributes: [
    ...text('employeeNumber', 'costCenter', 'organization', 'division', 'department'),
    complex('manager', 'The person’s manager.', [
      attribute('value', 'The manager’s id.', { caseExact: true }),
      reference(['User']),
      attribute('displayName', 'The manager’s name.', READ_ONLY),
    ]),
  ],
};

export const USER: Kind = {
  name: 'User',
  endpoint: '/Users',
  description: 'People',
  schema: USER_SCHEMA,
  extension: ENTERPRISE_SCHEMA,
};

export const GROUP: Kind = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Groups, to which the team’s settings give roles',
  schema: {
    id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
    name: 'Group',
    description: 'A group of people.',
    attributes: [
      attribute('displayName', 'The name, by which a role is given.', {
        required: true,
        uniqueness: 'server',
      }),
      externalId,
      complex(
        'members',
        'The people in the group.',
        [
          attribute('value', 'The person’s id.', { caseExact: true, mutability: 'immutable' }),
          reference(['User'], { mutability: 'immutable' }),
          attribute('type', 'The kind of member.', { mutability: 'immutable', canonicalValues: ['User'] }),
        ],
        { multiValued: true },
      ),
    ],
  },
  extension: null,
};

export const KINDS: readonly Kind[] = [USER, GROUP];
