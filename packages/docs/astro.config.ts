import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { referenceIds } from './src/api-reference.ts';
import { idOf } from './src/books.ts';
import { bookOfBuild } from './src/config.ts';

const book = bookOfBuild();

/**
 * A book as a static build. Its policy allows nothing inline: scripts and styles are files, and
 * scripts/nothing-inline.ts moves what Starlight writes into its pages.
 */
export default defineConfig({
  base: book.base,
  trailingSlash: 'never',
  image: { service: { entrypoint: 'astro/assets/services/noop' } },
  build: { inlineStylesheets: 'never' },
  vite: { build: { assetsInlineLimit: 0 } },
  integrations: [
    starlight({
      title: book.title,
      favicon: '/mark.svg',
      components: { SiteTitle: './src/SiteTitle.astro' },
      customCss: ['./src/styles.css'],
      sidebar: [
        ...book.chapters.map(({ label, pages }) => ({
          label,
          items: pages.map((page) => idOf(book, page)),
        })),
        ...book.references.map(({ label, document }) => ({
          label,
          collapsed: true,
          items: referenceIds(document),
        })),
      ],
      // A block that scrolls would need a name for screen readers.
      expressiveCode: { defaultProps: { wrap: true } },
      pagefind: { ranking: { pageLength: 0.3 } },
    }),
  ],
});
