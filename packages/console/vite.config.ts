import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';
import { bundledModules } from './scripts/bundled-modules.ts';
import { monacoWithoutInlineStyles } from './scripts/monaco-without-inline-styles.ts';
import { storedTheme } from './scripts/stored-theme.ts';
import { preloads } from './scripts/preloads.ts';

/** What any page may load before it is usable, Brotli-compressed; what it imports later (charts, the explorer) is not counted. */
const SCRIPT_BUDGET_BYTES = 150_000;

const COMPRESSIBLE = /\.(?:html|css|js|svg)$/;

const modules = bundledModules();

/** Writes a Brotli and a gzip file beside each text file, so that account compresses nothing while it serves. */
function compressed(): Plugin {
  let outDir = '';
  return {
    name: 'tollgate-compressed',
    apply: 'build',
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    writeBundle(_options, bundle) {
      writeFileSync(join(outDir, '.modules'), JSON.stringify(modules.paths()));
      const scriptBytes = new Map<string, number>();
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSIBLE.test(name)) continue;
        const content = readFileSync(join(outDir, name));
        const brotli = brotliCompressSync(content);
        if (name.endsWith('.js')) scriptBytes.set(name, brotli.length);
        writeFileSync(join(outDir, `${name}.br`), brotli);
        writeFileSync(join(outDir, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
      for (const [page, files] of scriptsOfPages(bundle)) {
        const bytes = [...files].reduce((sum, file) => sum + (scriptBytes.get(file) ?? 0), 0);
        this.info(`${page} loads ${String(bytes)} bytes of script`);
        if (bytes > SCRIPT_BUDGET_BYTES) {
          throw new Error(
            `${page} loads ${String(bytes)} bytes of script, of ${String(SCRIPT_BUDGET_BYTES)} allowed (Brotli).`,
          );
        }
      }
    },
  };
}

type Bundle = Parameters<Extract<NonNullable<Plugin['writeBundle']>, (...args: never) => unknown>>[1];

/** The scripts that each page loads before it is usable: the entry, the page's chunk, and all that they import. */
function scriptsOfPages(bundle: Bundle): Map<string, Set<string>> {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const closure = (file: string, found = new Set<string>()): Set<string> => {
    if (found.has(file)) return found;
    found.add(file);
    for (const next of chunks.find(({ fileName }) => fileName === file)?.imports ?? []) closure(next, found);
    return found;
  };
  const isPage = (file: string) =>
    chunks.find(({ fileName }) => fileName === file)?.facadeModuleId?.includes('/src/pages/') === true;
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error('The build has no entry.');
  const first = closure(entry.fileName);
  const pages = chunks
    .filter(({ fileName }) => first.has(fileName))
    .flatMap(({ dynamicImports }) => dynamicImports)
    .filter(isPage);
  return new Map([
    [entry.name, first],
    ...pages.map((file) => [file, closure(file, new Set(first))] as const),
  ]);
}

/**
 * A static build that account serves under /user. Nothing is inlined: the page's policy allows neither inline
 * scripts nor inline styles. The dev server passes the API on to a running stack (`npm start`).
 */
export default defineConfig({
  base: '/user/',
  plugins: [react(), storedTheme(), monacoWithoutInlineStyles(), modules.plugin(), compressed(), preloads()],
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
