import { entriesOf, schemasOf } from './attributes.ts';
import type { Kind, Values } from './attributes.ts';

/** What is read of a resource beside its values. */
export type Common = {
  id: string;
  version: number;
  created_at: Date;
  updated_at: Date;
  values: Values;
  /** Read-only attributes, such as `groups`. */
  computed: Readonly<Record<string, unknown>>;
};

export type Resource = Readonly<Record<string, unknown>>;

/** Which attributes an answer has (RFC 7644, section 3.9). */
export type Projection = { attributes: readonly string[] | null; excluded: readonly string[] };

export const ALL: Projection = { attributes: null, excluded: [] };

const MAX_NAMES = 100;

export function projectionOf(attributes: string | undefined, excluded: string | undefined): Projection {
  const names = (text: string) =>
    text
      .split(',')
      .slice(0, MAX_NAMES)
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== '');
  return {
    attributes: attributes === undefined ? null : names(attributes),
    excluded: excluded === undefined ? [] : names(excluded),
  };
}

export const locationOf = (baseUrl: string, { endpoint }: Kind, id: string) => `${baseUrl}${endpoint}/${id}`;

export const etagOf = ({ version }: Pick<Common, 'version'>) => `W/"${String(version)}"`;

/** As it is sent. */
export function resourceOf(kind: Kind, common: Common, baseUrl: string, projection: Projection): Resource {
  const { id, created_at, updated_at, values, computed } = common;
  const known = entriesOf(kind).flatMap(({ key, attribute: { name } }): [string, string, unknown][] => {
    const value = values[key] ?? computed[key];
    return value === undefined ? [] : [[key, name, value]];
  });
  const meta = {
    resourceType: kind.name,
    created: created_at.toISOString(),
    lastModified: updated_at.toISOString(),
    location: locationOf(baseUrl, kind, id),
    version: etagOf(common),
  };
  const core = known.filter(([key, name]) => key === name).map(([key, , value]) => [key, value] as const);
  const others = schemasOf(kind)
    .slice(1)
    .map((schema) => {
      const own = known.filter(([key]) => key.startsWith(`${schema.id}:`));
      return [schema.id, Object.fromEntries(own.map(([, name, value]) => [name, value]))] as const;
    })
    .filter(([, value]) => Object.keys(value).length > 0);
  const all = { ...Object.fromEntries([...core, ...others]), meta };
  return {
    schemas: [kind.schema.id, ...others.map(([schema]) => schema)],
    id,
    ...projected(kind, all, projection),
  };
}

/** `id` and `schemas` are always there. */
function projected(kind: Kind, all: Resource, { attributes, excluded }: Projection): Resource {
  const bare = (name: string) => {
    const prefix = `${kind.schema.id}:`.toLowerCase();
    return name.startsWith(prefix) ? name.slice(prefix.length) : name;
  };
  const kept = attributes?.map(bare);
  const left = excluded.map(bare);
  const entries = Object.entries(all).flatMap(([name, value]): [string, unknown][] => {
    const found = kept === undefined ? value : chosen(name, value, kept, true);
    const shown = found === undefined ? undefined : chosen(name, found, left, false);
    return shown === undefined ? [] : [[name, shown]];
  });
  return Object.fromEntries(entries);
}

/** `isKept`: only what is named; else all but that. Names can have sub-attributes, after a dot or an extension's colon. */
function chosen(name: string, value: unknown, names: readonly string[], isKept: boolean): unknown {
  const lower = name.toLowerCase();
  if (names.includes(lower)) return isKept ? value : undefined;
  const subs = names
    .filter((one) => one.startsWith(`${lower}.`) || one.startsWith(`${lower}:`))
    .map((one) => one.slice(lower.length + 1));
  if (subs.length === 0) return isKept ? undefined : value;
  const cut = (one: object) =>
    Object.fromEntries(Object.entries(one).filter(([sub]) => subs.includes(sub.toLowerCase()) === isKept));
  if (Array.isArray(value)) return value.map((one) => cut(one as object));
  return typeof value === 'object' && value !== null ? cut(value) : value;
}
