import { readFileSync } from 'node:fs';
import type { Loader } from 'astro/loaders';
import { PAGES } from './pages.ts';

const FOLDER = new URL('../../../docs/customers/', import.meta.url);

/** Pages as they are in the repository: the first heading is the title, and links lead from file to file. */
export const customersBook: Loader = {
  name: 'customers-book',
  load: async (context) => {
    const { store } = context;
    store.clear();
    for (const id of PAGES.flatMap(({ pages }) => pages)) {
      const file = new URL(`${id}.md`, FOLDER);
      const { title, body } = pageOf(readFileSync(file, 'utf8'), file);
      const data = await context.parseData({ id, data: { title } });
      const rendered = await context.renderMarkdown(body, { fileURL: file });
      // On a phone, tables scroll: by keyboard, too.
      const html = rendered.html.replaceAll('<table>', '<table tabindex="0">');
      store.set({ id, data, body, rendered: { ...rendered, html } });
    }
  },
};

/** @throws {Error} if the file has no title, or a link leaves the book */
function pageOf(text: string, file: URL): { title: string; body: string } {
  const { title, body } = /^# (?<title>.*)\n(?<body>[^]*)$/.exec(text)?.groups ?? {};
  if (title === undefined || body === undefined) throw new Error(`${file.pathname} has no title`);
  // Comments are for the programs that write parts of a page.
  const linked = body
    .replaceAll(/^<!-- .* -->\n/gm, '')
    .replaceAll(/\]\(([\w./-]+)\.md(#[^)]*)?\)/g, (link, id: string, anchor: string | undefined) => {
      if (!PAGES.some(({ pages }) => (pages as readonly string[]).includes(id)))
        throw new Error(`${file.pathname}: ${link} leads to no page of the book`);
      return `](/docs${id === 'index' ? '' : `/${id}`}${anchor ?? ''})`;
    });
  return { title, body: linked };
}
