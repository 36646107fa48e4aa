const ROW = /<tr>(\s*)<td><code>([^<]+)<\/code><\/td>/g;
const ID = /\sid="([^"]*)"/g;

/**
 * A row that begins with one name in code has it as its ID, so that each header, setting, metric and code of a table has
 * an address of its own. A heading with the same name keeps it.
 */
export function withRowIds(html: string): string {
  const taken = new Set([...html.matchAll(ID)].map(([, id]) => id));
  return html.replaceAll(ROW, (row, space: string, name: string) => {
    const id = name
      .toLowerCase()
      .replaceAll(/[^\w-]+/g, '-')
      .replaceAll(/^-|-$/g, '');
    if (id === '' || taken.has(id)) return row;
    taken.add(id);
    return row.replace(`<tr>${space}`, `<tr id="${id}">${space}`);
  });
}
