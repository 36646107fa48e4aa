import { keyOf, schemasOf } from './attributes.ts';
import type { Attribute, Entry, Kind, Schema } from './attributes.ts';
import { parseTerms } from './filter.ts';
import type { Term } from './filter.ts';
import { findSub, readSimple } from './read-value.ts';
import { immutable, invalidPath } from './scim-error.ts';

/** What a PATCH operation changes (RFC 7644, figure 7). */
export type Path =
  | { extension: Schema }
  | (Entry & {
      /** Which of the values; null: all of them. */
      filter: readonly Term[] | null;
      sub: Attribute | null;
    });

const MAX_CHARACTERS = 1_000;

const SHAPE = /^([a-z$][\w$-]*)(?:\[(.*)\])?(?:\.([a-z$][\w$-]*))?$/i;

const COMMON = new Set(['id', 'meta', 'schemas']);

/** Undefined for an attribute that isn't known. @throws {ScimError} invalidPath, mutability */
export function parsePath(kind: Kind, text: string): Path | undefined {
  if (text.length > MAX_CHARACTERS) throw invalidPath('The path is too long.');
  const [schema, rest] = schemaOf(kind, text);
  if (schema === undefined) return undefined;
  if (rest === '') return schema === kind.schema ? undefined : { extension: schema };
  const [, name = '', filterText, subName] = SHAPE.exec(rest) ?? [];
  if (name === '') throw invalidPath(`"${text}" is not a path.`);
  if (COMMON.has(name.toLowerCase())) throw immutable(`${name} is read-only.`);
  const attribute = schema.attributes.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (attribute === undefined) return undefined;
  const filter = filterText === undefined ? null : termsOf(attribute, filterText, text);
  const sub = subName === undefined ? null : (findSub(attribute, subName) ?? null);
  if (subName !== undefined && sub === null) return undefined;
  if (sub !== null && attribute.multiValued && filter === null) {
    throw invalidPath(`"${text}" does not say which of the values it means.`);
  }
  return { key: keyOf(kind, schema, attribute), attribute, filter, sub };
}

/** The path's schema, and what follows it. Undefined for a schema that the kind doesn't have. */
function schemaOf(kind: Kind, text: string): [Schema | undefined, string] {
  if (!/^urn:/i.test(text)) return [kind.schema, text];
  for (const schema of schemasOf(kind)) {
    const start = text.slice(0, schema.id.length);
    const rest = text.slice(schema.id.length);
    if (start.toLowerCase() !== schema.id.toLowerCase()) continue;
    if (rest === '') return [schema, ''];
    if (rest.startsWith(':')) return [schema, rest.slice(1)];
  }
  return [undefined, text];
}

function termsOf(attribute: Attribute, text: string, path: string): Term[] {
  const terms = attribute.multiValued ? parseTerms(text) : undefined;
  const subs = terms?.map(({ name }) => findSub(attribute, name));
  if (terms === undefined || !subs?.every((sub) => sub !== undefined)) {
    throw invalidPath(`"${path}" must choose values by eq.`);
  }
  // As values are read: Entra ID writes `primary eq "True"`.
  return subs.map((sub, index) => ({
    name: sub.name,
    value: readSimple(sub, terms[index]?.value, attribute),
  }));
}
