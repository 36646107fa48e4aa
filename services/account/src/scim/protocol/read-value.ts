import type { Attribute, Complex, Entry, Kind, Simple, Value, Values } from './attributes.ts';
import { entriesOf, schemasOf } from './attributes.ts';
import { immutable, invalidSyntax, invalidValue } from './scim-error.ts';

const MAX_CHARACTERS = 1_024;
/** Of emails, addresses and the like; members of a group have a limit of their own. */
const MAX_VALUES = 20;
const MAX_MEMBERS = 5_000;

/** How many values an attribute can have. */
export function maxValuesOf({ name }: Pick<Attribute, 'name'>): number {
  return name === 'members' ? MAX_MEMBERS : MAX_VALUES;
}

type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if `raw` leaves the attribute unassigned (RFC 7643, section 2.5). @throws {ScimError} invalidValue */
export function readValue(attribute: Attribute, raw: unknown): Value | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (!attribute.multiValued) return readSingle(attribute, raw);
  const all: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  const max = maxValuesOf(attribute);
  if (all.length > max) {
    throw invalidValue(`${attribute.name} can have at most ${String(max)} values.`);
  }
  const values = all.map((one) => readComplex(attribute, one)).filter((one) => one !== undefined);
  return values.length === 0 ? undefined : onePrimary(values);
}

/** Of several primary values, the last one counts (RFC 7644, section 3.5.2). */
export function onePrimary(values: readonly Complex[]): Complex[] {
  const last = values.findLastIndex(({ primary }) => primary === true);
  return values.map((value, index) =>
    value['primary'] === true && index !== last ? { ...value, primary: false } : value,
  );
}

function readSingle(attribute: Attribute, raw: unknown): Simple | Complex | undefined {
  return attribute.type === 'complex' ? readComplex(attribute, raw) : readSimple(attribute, raw);
}

/** A complex value with its sub-attributes; unknown and read-only ones are ignored. */
export function readComplex(attribute: Attribute, raw: unknown): Complex | undefined {
  // Entra ID sends a manager, and some send members, as the bare value.
  const given = typeof raw === 'string' && findSub(attribute, 'value') !== undefined ? { value: raw } : raw;
  if (!isObject(given)) throw invalidValue(`${attribute.name} must be an object.`);
  const values = Object.entries(given).flatMap(([name, value]): [string, Simple][] => {
    const sub = findSub(attribute, name);
    if (sub === undefined || sub.mutability === 'readOnly' || value === null) return [];
    return [[sub.name, readSimple(sub, value, attribute)]];
  });
  return values.length === 0 ? undefined : Object.fromEntries(values);
}

export function findSub({ subAttributes = [] }: Attribute, name: string): Attribute | undefined {
  return subAttributes.find((sub) => sub.name.toLowerCase() === name.toLowerCase());
}

export function readSimple(attribute: Attribute, raw: unknown, parent?: Attribute): Simple {
  const name = parent === undefined ? attribute.name : `${parent.name}.${attribute.name}`;
  if (attribute.type === 'boolean') {
    if (typeof raw === 'boolean') return raw;
    // Entra ID sends "True" and "False".
    if (typeof raw === 'string' && /^(?:true|false)$/i.test(raw)) return raw.toLowerCase() === 'true';
    throw invalidValue(`${name} must be true or false.`);
  }
  // Some directories have employee numbers that are numbers.
  const text = typeof raw === 'number' ? String(raw) : raw;
  if (typeof text !== 'string') throw invalidValue(`${name} must be text.`);
  if (text.length > MAX_CHARACTERS) {
    throw invalidValue(`${name} can have at most ${String(MAX_CHARACTERS)} characters.`);
  }
  if (!isStorable(text)) throw invalidValue(`${name} must be Unicode text.`);
  return text;
}

/** Postgres takes neither a NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** A resource as POST and PUT send it. Unknown attributes and read-only ones are ignored. @throws {ScimError} */
export function readResource(kind: Kind, body: unknown): Values {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const { schemas } = body;
  if (schemas !== undefined && !(Array.isArray(schemas) && schemas.includes(kind.schema.id))) {
    throw invalidValue(`schemas must include ${kind.schema.id}.`);
  }
  const given = lowerCaseKeys(body);
  const nested = schemasOf(kind)
    .slice(1)
    .map(({ id }) => [id, given.get(id.toLowerCase())] as const);
  for (const [id, object] of nested) {
    if (isObject(object)) {
      for (const [name, value] of lowerCaseKeys(object)) given.set(`${id}:${name}`.toLowerCase(), value);
    } else if (object !== undefined && object !== null) throw invalidValue(`${id} must be an object.`);
  }
  const values = writable(kind).flatMap(({ key, attribute }): [string, Value][] => {
    const value = readValue(attribute, given.get(key.toLowerCase()));
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(values);
}

function lowerCaseKeys(object: JsonObject): Map<string, unknown> {
  return new Map(Object.entries(object).map(([name, value]) => [name.toLowerCase(), value]));
}

function writable(kind: Kind): Entry[] {
  return entriesOf(kind).filter(({ attribute }) => attribute.mutability !== 'readOnly');
}

/** @throws {ScimError} invalidValue, mutability */
export function assertWritable({ attribute }: Pick<Entry, 'attribute'>): void {
  if (attribute.mutability === 'readOnly') throw immutable(`${attribute.name} is read-only.`);
}
