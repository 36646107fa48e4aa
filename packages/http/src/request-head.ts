import type { IncomingMessage } from 'node:http';

/** The index of a field's name in a flat list, at or after `from`; -1 if there is none. `name` is in lower case. */
export function fieldIndex(rawHeaders: readonly string[], name: string, from = 0): number {
  for (let index = from; index + 1 < rawHeaders.length; index += 2) {
    const given = rawHeaders[index];
    // The length rules out nearly all fields without making a string.
    if (given?.length === name.length && given.toLowerCase() === name) return index;
  }
  return -1;
}

/** Every value of a field, in order, as received. `name` is in lower case. */
export function fieldValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = fieldIndex(rawHeaders, name); at !== -1; at = fieldIndex(rawHeaders, name, at + 2)) {
    values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}

/** The field's value; undefined if it is missing or repeated. */
export function singleValue(rawHeaders: readonly string[], name: string): string | undefined {
  const at = fieldIndex(rawHeaders, name);
  return at === -1 || fieldIndex(rawHeaders, name, at + 2) !== -1 ? undefined : rawHeaders[at + 1];
}

/** The request target's path, as received: not decoded, without the query string. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** The query string with its question mark, or an empty string. */
export function queryOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  return query === -1 ? '' : url.slice(query);
}
