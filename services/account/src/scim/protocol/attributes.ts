/** The characteristics of an attribute (RFC 7643, section 7). */
export type Attribute = {
  name: string;
  type: 'string' | 'boolean' | 'reference' | 'complex';
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: 'readWrite' | 'readOnly' | 'immutable';
  returned: 'default';
  uniqueness: 'none' | 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
};

export type Schema = { id: string; name: string; description: string; attributes: readonly Attribute[] };

export type Kind = {
  name: 'User' | 'Group';
  endpoint: '/Users' | '/Groups';
  description: string;
  schema: Schema;
  extension: Schema | null;
};

/** Values as they are kept: by `keyOf`, without unassigned ones. */
export type Simple = string | boolean;
export type Complex = Readonly<Record<string, Simple>>;
export type Value = Simple | Complex | readonly Complex[];
export type Values = Readonly<Record<string, Value>>;

export function isComplex(value: Value | undefined): value is Complex {
  return typeof value === 'object' && !Array.isArray(value);
}

export type Entry = { key: string; attribute: Attribute };

/** An attribute's name, after the extension's schema where it is one of those. */
export function keyOf(kind: Kind, schema: Schema, { name }: Attribute): string {
  return schema === kind.schema ? name : `${schema.id}:${name}`;
}

export function schemasOf({ schema, extension }: Kind): Schema[] {
  return extension === null ? [schema] : [schema, extension];
}

/** All attributes of a resource that are its own; `id`, `meta` and `schemas` are common ones. */
export function entriesOf(kind: Kind): Entry[] {
  return schemasOf(kind).flatMap((schema) =>
    schema.attributes.map((attribute) => ({ key: keyOf(kind, schema, attribute), attribute })),
  );
}

type Changes = Partial<Omit<Attribute, 'name' | 'description'>>;

export function attribute(name: string, description: string, changes: Changes = {}): Attribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...changes,
  };
}

export function complex(
  name: string,
  description: string,
  subAttributes: readonly Attribute[],
  changes: Changes = {},
): Attribute {
  return attribute(name, description, { type: 'complex', subAttributes, ...changes });
}

/** A list of values with a type, one of which may be the primary one (RFC 7643, section 2.4). */
export function plural(
  name: string,
  description: string,
  { of = [attribute('value', 'The value.')], types }: { of?: Attribute[]; types?: readonly string[] } = {},
): Attribute {
  const type = attribute('type', 'A label.', types === undefined ? {} : { canonicalValues: types });
  const primary = attribute('primary', 'Whether it is the preferred one.', { type: 'boolean' });
  return complex(name, description, [...of, type, primary], { multiValued: true });
}
