/** A setting or a header, wherever it is written. */
const NAME = /^(?:[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[A-Z][a-z]+(?:-?[A-Z][a-z]+)+)$/;
const HEADING = /<h[1-6] id="([^"]+)"[^>]*>(?:<code>)?([^<]+)(?:<\/code>)?<\/h[1-6]>/g;
/** The last group is a name outside of what has an address already, or is a sample. */
const CODE = /<(pre|a|h[1-6])\b[^]*?<\/\1>|<code>([^<]+)<\/code>/g;

type Page = { path: string; html: string };

/** The address of each setting and header that one place of the book describes. */
export function addressesOf(pages: readonly Page[]): ReadonlyMap<string, string> {
  const places = pages.flatMap(({ path, html }) =>
    [...html.matchAll(HEADING)].map(([, id = '', name = '']) => ({ name, address: `${path}#${id}` })),
  );
  const byName = Map.groupBy(
    places.filter(({ name }) => NAME.test(name)),
    ({ name }) => name,
  );
  return new Map(
    [...byName].flatMap(([name, [first, another]]) =>
      first === undefined || another !== undefined ? [] : [[name, first.address] as const],
    ),
  );
}

/** Each of these names, as a link to its description. */
export function withNameLinks(html: string, addresses: ReadonlyMap<string, string>): string {
  return html.replaceAll(CODE, (match, _tag: string | undefined, name: string | undefined) => {
    const address = addresses.get(name ?? '');
    return address === undefined ? match : `<a href="${address}">${match}</a>`;
  });
}
