import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Loader } from 'astro/loaders';
import { referencePages } from './api-reference.ts';
import { idOf, pagesOf, pathOf } from './books.ts';
import type { Book } from './books.ts';
import { bookOfBuild } from './config.ts';
import { addressesOf, withNameLinks } from './name-links.ts';
import { withRowHeadings } from './row-headings.ts';
import { withSequenceLists } from './sequence-list.ts';

const LINK = /\[([^[\]\n]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g;

type Page = { id: string; title: string; body: string; file: string; depth: number };

/** The pages of a book: Markdown as it is in the repository, and those of its API. */
export const book: Loader = {
  name: 'book',
  load: async (context) => {
    const { store } = context;
    const built = bookOfBuild();
    store.clear();
    const pages = await Promise.all(
      [...writtenPages(built), ...references(built)].map(async ({ id, title, body, file, depth }) => {
        const tableOfContents = { minHeadingLevel: 2, maxHeadingLevel: depth };
        const data = await context.parseData({ id, data: { title, tableOfContents } });
        const rendered = await context.renderMarkdown(body, { fileURL: pathToFileURL(file) });
        const path = id === 'index' ? built.base : `${built.base}/${id}`;
        return { id, data, body, rendered, path, html: withRowHeadings(rendered.html) };
      }),
    );
    const addresses = addressesOf(pages);
    for (const { id, data, body, rendered, html: own } of pages) {
      // On a phone, tables scroll: by keyboard, too.
      const html = withNameLinks(own, addresses).replaceAll('<table>', '<table tabindex="0">');
      store.set({ id, data, body, rendered: { ...rendered, html } });
    }
  },
};

/** The first heading is the title, and links lead from file to file. */
function writtenPages(of: Book): Page[] {
  const files = pagesOf(of).map((name) => ({ name, file: join(of.folder, `${name}.md`) }));
  const read = files.map(({ name, file }) => ({ name, file, ...parts(file) }));
  const titles = new Map(read.map(({ name, title }) => [name, title]));
  return read.map(({ name, file, title, body }) => ({
    id: idOf(of, name),
    title,
    body: linked(body, of, { file, titles }),
    file,
    depth: 3,
  }));
}

/** @throws {Error} if the file has no title */
function parts(file: string): { title: string; body: string } {
  const { title, body } = /^# (?<title>.*)\n(?<body>[^]*)$/.exec(readFileSync(file, 'utf8'))?.groups ?? {};
  if (title === undefined || body === undefined) throw new Error(`${file} has no title`);
  // The navigation shows it as it is.
  return { title: title.replaceAll('`', ''), body };
}

function references(of: Book): Page[] {
  return of.references.flatMap(({ document }) =>
    referencePages(document, of).map((page) => ({ ...page, file: document, depth: 2 })),
  );
}

/**
 * A link whose words are the file's name has the page's title instead.
 *
 * @throws {Error} if a link leaves a closed book
 */
function linked(
  body: string,
  of: Book,
  { file, titles }: { file: string; titles: ReadonlyMap<string, string> },
): string {
  // Comments are for the programs that write parts of a page.
  return outsideOfCode(withSequenceLists(body.replaceAll(/^<!-- .* -->\n/gm, '')), (text) =>
    text.replaceAll(LINK, (link, words: string, target: string, anchor: string | undefined) => {
      const page = relative(of.folder, join(dirname(file), target)).replace(/\.md$/, '');
      const title = titles.get(page);
      if (title !== undefined)
        return `[${words === basename(target) ? title : words}](${pathOf(of, page)}${anchor ?? ''})`;
      if (of.isClosed) throw new Error(`${file}: ${link} leads to no page of the book`);
      return words;
    }),
  );
}

/** Code blocks stay as they are. */
function outsideOfCode(text: string, change: (text: string) => string): string {
  return text
    .split(/(^ *```[^]*?^ *```)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}
