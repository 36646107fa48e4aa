const ROW = /<h([1-6])\b|<tr>(\s*)<td><code>([^<]+)<\/code><\/td>/g;
const ID = /\sid="([^"]*)"/g;

/**
 * A row that begins with one name in code has it as a heading, so that each header, setting, metric and code of a table
 * has an address of its own, which the search finds. A heading with the same name keeps it.
 */
export function withRowHeadings(html: string): string {
  const taken = new Set([...html.matchAll(ID)].map(([, id]) => id));
  let level = 1;
  return html.replaceAll(
    ROW,
    (match, heading: string | undefined, space: string | undefined, name: string | undefined) => {
      if (name === undefined) {
        level = Number(heading);
        return match;
      }
      const id = name
        .toLowerCase()
        .replaceAll(/[^\w-]+/g, '-')
        .replaceAll(/^-|-$/g, '');
      if (id === '' || taken.has(id)) return match;
      taken.add(id);
      const tag = `h${String(Math.min(level + 1, 6))}`;
      return `<tr>${space ?? ''}<td><${tag} id="${id}"><code>${name}</code></${tag}></td>`;
    },
  );
}
