/** A table as prettier writes it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[], filler: string) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, filler)).join(' | ')} |`;
  return [line(head, ' '), line([], '-'), ...rows.map((cells) => line(cells, ' '))].join('\n');
}

const GENERATED = /(<!-- generated: ([\w-]+) -->\n\n)[^]*?(<!-- end -->)/g;

/**
 * The document with each part between `<!-- generated: NAME -->` and `<!-- end -->` written anew.
 *
 * @throws {Error} if a part has no place, or a place no part
 */
export function withParts(document: string, parts: Readonly<Record<string, string>>): string {
  const places = [...document.matchAll(GENERATED)].map(([, , name = '']) => name);
  if (places.toSorted().join() !== Object.keys(parts).toSorted().join())
    throw new Error(`The document has the places ${places.join()}, not ${Object.keys(parts).join()}`);
  return document.replace(
    GENERATED,
    (_, begin: string, name: string, end: string) => `${begin}${parts[name] ?? ''}\n\n${end}`,
  );
}
