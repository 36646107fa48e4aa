import { nameSchema } from '../../http/input/name.ts';
import { isVisible } from '../../http/input/visible-text.ts';
import { isComplex } from '../protocol/attributes.ts';
import type { Value, Values } from '../protocol/attributes.ts';
import { GROUP, USER } from '../protocol/kinds.ts';
import { locationOf, resourceOf } from '../protocol/resource.ts';
import type { Projection, Resource } from '../protocol/resource.ts';
import { invalidValue } from '../protocol/scim-error.ts';
import type { ScimUser } from './store.ts';

/** A page has 200 people, who are in memory together. Entra ID and Okta send some 3 KB. */
const MAX_ATTRIBUTES_BYTES = 16_384;

/** @throws {ScimError} invalidValue */
export function assertSmall(values: Values): void {
  const { attributes } = attributesOf(values);
  if (Buffer.byteLength(JSON.stringify(attributes)) <= MAX_ATTRIBUTES_BYTES) return;
  throw invalidValue(`The attributes of a user can have at most ${String(MAX_ATTRIBUTES_BYTES)} bytes.`);
}

/** What of the values has no column of its own. */
export function attributesOf({
  userName: _userName,
  active: _active,
  externalId,
  ...attributes
}: Values): Pick<ScimUser, 'external_id' | 'attributes'> {
  return { external_id: typeof externalId === 'string' ? externalId : null, attributes };
}

export function valuesOf({
  user_name,
  external_id,
  attributes,
  active,
}: Pick<ScimUser, 'user_name' | 'external_id' | 'attributes' | 'active'>): Values {
  return {
    ...attributes,
    userName: user_name,
    active,
    ...(external_id === null ? {} : { externalId: external_id }),
  };
}

export function userResource(user: ScimUser, baseUrl: string, projection: Projection): Resource {
  const { scim_user_id: id, groups, version, created_at, updated_at } = user;
  const listed = groups.map(({ value, display }) => ({
    value,
    $ref: locationOf(baseUrl, GROUP, value),
    display,
  }));
  const common = {
    id,
    version,
    created_at,
    updated_at,
    values: valuesOf(user),
    computed: listed.length === 0 ? {} : { groups: listed },
  };
  return resourceOf(USER, common, baseUrl, projection);
}

const NAME_MAX_CHARACTERS = 200;

/** What people see as the account's name. @throws {ScimError} invalidValue */
export function displayedName({ displayName, name }: Values, address: string): string {
  const parts = partsOf(name);
  const candidates = [
    displayName,
    parts['formatted'],
    [parts['givenName'], parts['familyName']].filter((part) => typeof part === 'string').join(' '),
  ];
  const chosen = candidates.find((text): text is string => typeof text === 'string' && isVisible(text));
  const shown = Array.from(chosen ?? address.slice(0, address.lastIndexOf('@')))
    .slice(0, NAME_MAX_CHARACTERS)
    .join('');
  const checked = nameSchema.safeParse(shown);
  if (!checked.success) throw invalidValue(`The name ${checked.error.issues[0]?.message ?? 'is not text'}.`);
  return shown;
}

function partsOf(name: Value | undefined): Readonly<Record<string, unknown>> {
  return isComplex(name) ? name : {};
}
