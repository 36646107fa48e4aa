import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { bundledModules } from './scripts/bundled-modules.ts';
import { compressed } from './scripts/compressed.ts';
import { monacoWithoutInlineStyles } from './scripts/monaco-without-inline-styles.ts';
import { pageChunks } from './scripts/page-chunks.ts';
import { preloads } from './scripts/preloads.ts';
import { storedTheme } from './scripts/stored-theme.ts';

/** What any page may load before it is usable, Brotli-compressed; what it imports later (charts, the explorer) is not counted. */
const SCRIPT_BUDGET_BYTES = 150_000;

const modules = bundledModules();

/** @throws {Error} for the first page over its budget */
const weigh: NonNullable<Parameters<typeof compressed>[0]['weigh']> = (bundle, scriptBytes, say) => {
  const { first, ofPages } = pageChunks(bundle);
  for (const [page, own] of ofPages) {
    const bytes = [...first, ...own].reduce((sum, { fileName }) => sum + (scriptBytes.get(fileName) ?? 0), 0);
    say(`${page} loads ${String(bytes)} bytes of script`);
    if (bytes > SCRIPT_BUDGET_BYTES) {
      throw new Error(
        `${page} loads ${String(bytes)} bytes of script, of ${String(SCRIPT_BUDGET_BYTES)} allowed (Brotli).`,
      );
    }
  }
};

/**
 * A static build that account serves under /user. Nothing is inlined: the page's policy allows neither inline
 * scripts nor inline styles. The dev server passes the API on to a running stack (`npm start`).
 */
export default defineConfig({
  base: '/user/',
  plugins: [
    react(),
    storedTheme(),
    monacoWithoutInlineStyles(),
    modules.plugin(),
    compressed({ modules: modules.paths, weigh }),
    preloads(),
  ],
  // Monaco's workers are bundles of their own.
  worker: { plugins: () => [modules.plugin()] },
  build: {
    outDir: 'dist',
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // What every page needs is one file: many small ones compress worse, by 15 KB.
      output: { codeSplitting: { groups: [{ name: 'app', test: /\/src\/router\.tsx$/ }] } },
    },
  },
  server: {
    proxy: { '/api': { target: 'http://127.0.0.1:4000' } },
  },
});
