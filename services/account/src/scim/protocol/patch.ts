import { isDeepStrictEqual } from 'node:util';
import { isComplex, keyOf } from './attributes.ts';
import type { Attribute, Complex, Kind, Simple, Value, Values } from './attributes.ts';
import type { Term } from './filter.ts';
import { parsePath } from './path.ts';
import type { Path } from './path.ts';
import {
  assertWritable,
  findSub,
  isObject,
  maxValuesOf,
  onePrimary,
  readComplex,
  readSimple,
  readValue,
} from './read-value.ts';
import { immutable, invalidPath, invalidSyntax, invalidValue } from './scim-error.ts';

/** RFC 7644, section 3.5.2, and what Entra ID and Okta send beside it (docs/design/identity.md). */

const MAX_OPERATIONS = 100;

type Verb = 'add' | 'replace' | 'remove';

type Target = Exclude<Path, { extension: unknown }>;

/** The values after all operations. @throws {ScimError} if one of them can't be carried out */
export function patched(kind: Kind, before: Values, body: unknown): Values {
  const values = new Map(Object.entries(before));
  for (const operation of operationsOf(body)) apply(kind, values, operation);
  return Object.fromEntries(values);
}

function operationsOf(body: unknown): readonly unknown[] {
  const [, operations] = isObject(body)
    ? (Object.entries(body).find(([name]) => name.toLowerCase() === 'operations') ?? [])
    : [];
  if (!Array.isArray(operations) || operations.length === 0) {
    throw invalidSyntax('Operations must be a list.');
  }
  if (operations.length > MAX_OPERATIONS) {
    throw invalidValue(`At most ${String(MAX_OPERATIONS)} operations can be sent at once.`);
  }
  return operations;
}

function apply(kind: Kind, values: Map<string, Value>, operation: unknown): void {
  if (!isObject(operation)) throw invalidSyntax('An operation must be an object.');
  const { op, path, value } = operation;
  const verb = verbOf(op);
  if (verb !== 'remove' && !('value' in operation)) throw invalidValue(`${verb} needs a value.`);
  if (path === undefined || path === null || path === '') {
    applyAll(kind, values, verb, value);
    return;
  }
  if (typeof path !== 'string') throw invalidPath('The path must be text.');
  const target = parsePath(kind, path);
  if (target === undefined) throw invalidPath(`"${path}" is not an attribute.`);
  if ('extension' in target) applyExtension(kind, values, verb, { extension: target.extension, value });
  else applyTo(values, verb, target, value);
}

function verbOf(op: unknown): Verb {
  const verb = typeof op === 'string' ? op.toLowerCase() : '';
  if (verb === 'add' || verb === 'replace' || verb === 'remove') return verb;
  throw invalidSyntax('op must be add, replace or remove.');
}

/** Without a path, each member of the value is one, also with dots and filters. */
function applyAll(kind: Kind, values: Map<string, Value>, verb: Verb, value: unknown): void {
  if (verb === 'remove') throw invalidPath('remove needs a path.');
  if (!isObject(value)) throw invalidValue('Without a path, the value must be an object.');
  let known = 0;
  for (const [name, one] of Object.entries(value)) {
    // Okta repeats the id of a group that it renames.
    if (/^(?:id|schemas|meta)$/i.test(name)) continue;
    const target = parsePath(kind, name);
    if (target === undefined) continue;
    known += 1;
    if ('extension' in target) applyExtension(kind, values, verb, { ...target, value: one });
    else applyTo(values, verb, target, one);
  }
  if (known === 0) throw invalidPath('The value has no known attribute.');
}

function applyExtension(
  kind: Kind,
  values: Map<string, Value>,
  verb: Verb,
  { extension, value }: { extension: Kind['schema']; value: unknown },
): void {
  const targets = extension.attributes.map((attribute) => ({
    key: keyOf(kind, extension, attribute),
    attribute,
    filter: null,
    sub: null,
  }));
  if (verb === 'remove') {
    for (const { key } of targets) values.delete(key);
    return;
  }
  if (!isObject(value)) throw invalidValue(`${extension.id} must be an object.`);
  let known = 0;
  for (const [name, one] of Object.entries(value)) {
    const target = targets.find(({ attribute }) => attribute.name.toLowerCase() === name.toLowerCase());
    if (target === undefined) continue;
    known += 1;
    applyTo(values, verb, target, one);
  }
  if (known === 0) throw invalidPath('The value has no known attribute.');
}

function applyTo(values: Map<string, Value>, verb: Verb, target: Target, raw: unknown): void {
  assertWritable(target);
  const before = values.get(target.key);
  const after = target.attribute.multiValued
    ? changedList(verb, target, listOf(before), raw)
    : changedSingle(verb, target, before, raw);
  if (after !== undefined) values.set(target.key, after);
  else if (target.attribute.required) throw invalidValue(`${target.attribute.name} is required.`);
  else values.delete(target.key);
}

function listOf(value: Value | undefined): readonly Complex[] {
  return Array.isArray(value) ? (value as readonly Complex[]) : [];
}

function changedSingle(
  verb: Verb,
  { attribute, sub }: Target,
  before: Value | undefined,
  raw: unknown,
): Value | undefined {
  const known = isComplex(before) ? before : {};
  if (sub !== null) return withSub(verb, { attribute, sub }, known, raw);
  if (verb === 'remove') return undefined;
  const value = readValue(attribute, raw);
  // Sub-attributes that aren't named stay (RFC 7644, section 3.5.2.3).
  return isComplex(value) ? { ...known, ...value } : value;
}

function withSub(
  verb: Verb,
  { attribute, sub }: { attribute: Attribute; sub: Attribute },
  before: Complex,
  raw: unknown,
): Complex | undefined {
  if (sub.mutability === 'readOnly') throw immutable(`${attribute.name}.${sub.name} is read-only.`);
  const { [sub.name]: _replaced, ...others } = before;
  if (verb === 'remove' || raw === null) return Object.keys(others).length === 0 ? undefined : others;
  return { ...others, [sub.name]: readSimple(sub, raw, attribute) };
}

function changedList(
  verb: Verb,
  target: Target,
  before: readonly Complex[],
  raw: unknown,
): readonly Complex[] | undefined {
  const after =
    target.filter === null
      ? wholeList(verb, target.attribute, before, raw)
      : chosenOf(verb, { ...target, filter: target.filter }, before, raw);
  const max = maxValuesOf(target.attribute);
  if (after.length > max) {
    throw invalidValue(`${target.attribute.name} can have at most ${String(max)} values.`);
  }
  return after.length === 0 ? undefined : after;
}

function wholeList(
  verb: Verb,
  attribute: Attribute,
  before: readonly Complex[],
  raw: unknown,
): readonly Complex[] {
  // Entra ID removes members by their values; without values, all go.
  const isAll = verb === 'remove' && (raw === undefined || raw === null);
  const given = isAll ? [] : listOf(readValue(attribute, raw));
  if (verb === 'replace') return unique(attribute, given);
  if (verb === 'add') return union(attribute, before, given);
  if (isAll) return [];
  // By `value` where there is one, as that is what a member or an address is.
  const gone = new Set(given.map(({ value }) => value));
  return before.filter((one) =>
    'value' in one ? !gone.has(one['value']) : !given.some((other) => isDeepStrictEqual(one, other)),
  );
}

function union(attribute: Attribute, before: readonly Complex[], added: readonly Complex[]): Complex[] {
  const hasPrimary = added.some(({ primary }) => primary === true);
  const kept = hasPrimary
    ? before.map((one) => (one['primary'] === true ? { ...one, primary: false } : one))
    : before;
  return unique(attribute, [...kept, ...added]);
}

/** Members by who they are, others by all that they say. */
function unique(attribute: Attribute, values: readonly Complex[]): Complex[] {
  const identityOf = ({ primary: _primary, ...rest }: Complex) =>
    attribute.name === 'members' ? rest['value'] : JSON.stringify(Object.entries(rest).toSorted());
  return [...new Map(values.map((value) => [identityOf(value), value])).values()];
}

/** The values that the path's filter chooses. What isn't there is made of the filter. */
function chosenOf(
  verb: Verb,
  target: Target & { filter: readonly Term[] },
  before: readonly Complex[],
  raw: unknown,
): readonly Complex[] {
  const { attribute, sub, filter } = target;
  const isChosen = (one: Complex) => filter.every((term) => matches(attribute, one, term));
  const change = (one: Complex): Complex | undefined => {
    if (sub !== null) return withSub(verb, { attribute, sub }, one, raw);
    if (verb === 'remove') return undefined;
    const value = readComplex(attribute, raw) ?? {};
    return verb === 'add' ? { ...one, ...value } : value;
  };
  if (verb !== 'remove' && !before.some(isChosen)) {
    const made = change(madeOf(attribute, filter));
    return made === undefined ? before : union(attribute, before, [made]);
  }
  const after = before.flatMap((one): Complex[] => {
    const changed = isChosen(one) ? change(one) : one;
    return changed === undefined ? [] : [changed];
  });
  return onePrimary(after);
}

function madeOf(attribute: Attribute, filter: readonly Term[]): Complex {
  const entries = filter.flatMap(({ name, value }): [string, Simple][] => {
    const sub = findSub(attribute, name);
    return sub === undefined ? [] : [[sub.name, readSimple(sub, value, attribute)]];
  });
  return Object.fromEntries(entries);
}

function matches(attribute: Attribute, one: Complex, { name, value }: Term): boolean {
  const sub = findSub(attribute, name);
  const found = one[name];
  if (typeof found !== 'string' || typeof value !== 'string') return found === value;
  return sub?.caseExact === true ? found === value : found.toLowerCase() === value.toLowerCase();
}
