import { cpSync, globSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtOnce } from '@tollgate/console/built-once';
import { precompress } from '@tollgate/console/precompress';
import { BOOKS, pagesOf } from '../src/books.ts';
import { nothingForeign } from './nothing-foreign.ts';
import { nothingInline } from './nothing-inline.ts';
import { librarySources, packLibraries } from './pack-libraries.ts';

/**
 * Builds a book into packages/docs/dist/<name>: `build.ts customers` or `build.ts operators`. A process each, since
 * Astro keeps one configuration in a process.
 */

/** What a page loads before a search, Brotli-compressed. */
const SCRIPT_BUDGET_BYTES = 30_000;

/** Of Pagefind's files, those that its search doesn't ask for. */
const UNUSED = 'pagefind/pagefind-{component-ui,modular-ui,ui,highlight}.*';

const root = resolve(import.meta.dirname, '..');
const consoleStyles = ['tokens.css', 'mark.svg'].map((name) =>
  fileURLToPath(import.meta.resolve(`@tollgate/console/${name}`)),
);

const name = process.argv[2] ?? '';
if (name !== 'customers' && name !== 'operators') throw new Error('Name the book: customers or operators.');
const { base, folder, references } = BOOKS[name];

process.env['NODE_ENV'] = 'production';
process.env['ASTRO_TELEMETRY_DISABLED'] = '1';
process.env['BOOK'] = name;

await builtOnce({
  root,
  dist: join(root, 'dist', name),
  sources: [
    ...['src', 'scripts', 'astro.config.ts', 'package.json'].map((each) => join(root, each)),
    ...pagesOf(BOOKS[name]).map((page) => join(folder, `${page}.md`)),
    ...references.map(({ document }) => document),
    ...consoleStyles,
    ...(name === 'customers' ? librarySources : []),
  ],
  build: async (outDir) => {
    // An unchanged build needs none of it.
    const { build } = await import('astro');
    // Both books may be built at the same time.
    await build({ root, outDir, cacheDir: join(root, `node_modules/.astro-${name}`), logLevel: 'error' });
    for (const file of globSync(UNUSED, { cwd: outDir })) rmSync(join(outDir, file));
    for (const file of consoleStyles.filter((each) => each.endsWith('.svg')))
      cpSync(file, join(outDir, 'mark.svg'));
    nothingInline(outDir, base);
    nothingForeign(outDir);
    if (name === 'customers') packLibraries(join(outDir, 'libraries'));
    weigh(precompress(outDir));
  },
});

/** Starlight's scripts are on every page. @throws {Error} if they are over the budget */
function weigh(scriptBytes: ReadonlyMap<string, number>): void {
  const bytes = [...scriptBytes]
    .filter(([file]) => file.startsWith('_astro/'))
    .reduce((sum, [, each]) => sum + each, 0);
  if (bytes > SCRIPT_BUDGET_BYTES)
    throw new Error(
      `A page loads ${String(bytes)} bytes of script, of ${String(SCRIPT_BUDGET_BYTES)} allowed (Brotli).`,
    );
}
