import { cpSync, globSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtOnce } from '@tollgate/console/built-once';
import { precompress } from '@tollgate/console/precompress';
import { build } from 'astro';
import { nothingInline } from './nothing-inline.ts';

/** Builds the customers' book into packages/docs/dist. */

/** What a page loads before a search, Brotli-compressed. */
const SCRIPT_BUDGET_BYTES = 30_000;

/** Of Pagefind's files, those that its search doesn't ask for. */
const UNUSED = 'pagefind/pagefind-{component-ui,modular-ui,ui,highlight}.*';

const root = resolve(import.meta.dirname, '..');
const repository = resolve(root, '../..');
const consoleStyles = ['tokens.css', 'mark.svg'].map((name) =>
  fileURLToPath(import.meta.resolve(`@tollgate/console/${name}`)),
);

process.env['NODE_ENV'] = 'production';
process.env['ASTRO_TELEMETRY_DISABLED'] = '1';

await builtOnce({
  root,
  dist: join(root, 'dist'),
  sources: [
    ...['src', 'scripts', 'astro.config.ts', 'package.json'].map((name) => join(root, name)),
    join(repository, 'docs/customers'),
    ...consoleStyles,
  ],
  build: async (outDir) => {
    await build({ root, outDir, logLevel: 'error' });
    for (const name of globSync(UNUSED, { cwd: outDir })) rmSync(join(outDir, name));
    for (const file of consoleStyles.filter((name) => name.endsWith('.svg')))
      cpSync(file, join(outDir, 'mark.svg'));
    nothingInline(outDir, '/docs');
    weigh(precompress(outDir));
  },
});

/** Starlight's scripts are on every page. @throws {Error} if they are over the budget */
function weigh(scriptBytes: ReadonlyMap<string, number>): void {
  const bytes = [...scriptBytes]
    .filter(([name]) => name.startsWith('_astro/'))
    .reduce((sum, [, each]) => sum + each, 0);
  if (bytes > SCRIPT_BUDGET_BYTES)
    throw new Error(
      `A page loads ${String(bytes)} bytes of script, of ${String(SCRIPT_BUDGET_BYTES)} allowed (Brotli).`,
    );
}
