import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { PAGES } from './src/pages.ts';
import { PRODUCT_NAME } from './src/placeholders.ts';

/**
 * The customers' book as a static build for /docs. Its policy allows nothing inline: scripts and styles are files, and
 * scripts/nothing-inline.ts moves what Starlight writes into its pages.
 */
export default defineConfig({
  base: '/docs',
  trailingSlash: 'never',
  image: { service: { entrypoint: 'astro/assets/services/noop' } },
  build: { inlineStylesheets: 'never' },
  vite: { build: { assetsInlineLimit: 0 } },
  integrations: [
    starlight({
      title: PRODUCT_NAME,
      favicon: '/mark.svg',
      components: { SiteTitle: './src/SiteTitle.astro' },
      customCss: ['./src/styles.css'],
      sidebar: PAGES.map(({ label, pages }) => ({ label, items: [...pages] })),
      // A block that scrolls would need a name for screen readers.
      expressiveCode: { defaultProps: { wrap: true } },
      pagefind: { ranking: { pageLength: 0.3 } },
    }),
  ],
});
