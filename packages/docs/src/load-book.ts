import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Loader } from 'astro/loaders';
import { referencePages } from './api-reference.ts';
import { idOf, pagesOf, pathOf } from './books.ts';
import type { Book } from './books.ts';
import { bookOfBuild } from './config.ts';

const LINK = /\[([^[\]\n]+)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g;

type Page = { id: string; title: string; body: string; file: string };

/** The pages of a book: Markdown as it is in the repository, and those of its API. */
export const book: Loader = {
  name: 'book',
  load: async (context) => {
    const { store } = context;
    const built = bookOfBuild();
    store.clear();
    for (const { id, title, body, file } of [...writtenPages(built), ...references(built)]) {
      const data = await context.parseData({ id, data: { title } });
      const rendered = await context.renderMarkdown(body, { fileURL: pathToFileURL(file) });
      // On a phone, tables scroll: by keyboard, too.
      const html = rendered.html.replaceAll('<table>', '<table tabindex="0">');
      store.set({ id, data, body, rendered: { ...rendered, html } });
    }
  },
};

/** The first heading is the title, and links lead from file to file. @throws {Error} if a file has no title */
function writtenPages(of: Book): Page[] {
  return pagesOf(of).map((name) => {
    const file = join(of.folder, `${name}.md`);
    const { title, body } = /^# (?<title>.*)\n(?<body>[^]*)$/.exec(readFileSync(file, 'utf8'))?.groups ?? {};
    if (title === undefined || body === undefined) throw new Error(`${file} has no title`);
    return { id: idOf(of, name), title, body: linked(body, of, file), file };
  });
}

function references(of: Book): Page[] {
  return of.references.flatMap(({ document }) =>
    referencePages(document, of).map((page) => ({ ...page, file: document })),
  );
}

/** @throws {Error} if a link leaves a closed book */
function linked(body: string, of: Book, file: string): string {
  const pages = new Set(pagesOf(of));
  // Comments are for the programs that write parts of a page.
  return outsideOfCode(body.replaceAll(/^<!-- .* -->\n/gm, ''), (text) =>
    text.replaceAll(LINK, (link, words: string, target: string, anchor: string | undefined) => {
      const page = relative(of.folder, join(dirname(file), target)).replace(/\.md$/, '');
      if (pages.has(page)) return `[${words}](${pathOf(of, page)}${anchor ?? ''})`;
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
