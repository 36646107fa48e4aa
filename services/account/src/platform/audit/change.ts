import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/**
 * What something was and what it is, under the names that the API has. `before` is null for what is new and `after` for
 * what is gone; otherwise both have the fields that differ. Never a secret.
 */
export type Change = { before: Fields | null; after: Fields | null };

/** Of the named fields. Undefined if none of them differs. */
export function changeOf<Name extends string>(
  names: readonly Name[],
  before: Readonly<Record<Name, unknown>> | null,
  after: Readonly<Record<Name, unknown>> | null,
): Change | undefined {
  const stays = (name: Name) =>
    before !== null && after !== null && isDeepStrictEqual(before[name], after[name]);
  const changed = names.filter((name) => !stays(name));
  if (changed.length === 0) return undefined;
  const picked = (row: Readonly<Record<Name, unknown>> | null) =>
    row === null ? null : Object.fromEntries(changed.map((name) => [name, row[name]]));
  return { before: picked(before), after: picked(after) };
}
