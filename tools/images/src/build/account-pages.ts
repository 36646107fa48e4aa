import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './root.ts';

export const CONSOLE_DIST = join(ROOT, 'packages/console/dist');
export const DOCS_DIST = join(ROOT, 'packages/docs/dist');

/** The files of the page at /api/docs. */
export const SWAGGER_UI_FOLDER = join(ROOT, 'services/account/node_modules/swagger-ui-dist');
export const SWAGGER_UI_FILES = [
  'package.json',
  'LICENSE',
  'NOTICE',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
];

/** The programs that build the web interface and the books, by the names of their logs. */
export const PAGE_BUILDS = {
  console: ['packages/console/scripts/build.ts'],
  docs: ['packages/docs/scripts/build.ts', 'customers'],
  'operators-docs': ['packages/docs/scripts/build.ts', 'operators'],
};

/** Builds the web interface and the books, unless they are built already. */
export async function buildPages(): Promise<void> {
  for (const args of Object.values(PAGE_BUILDS))
    await promisify(execFile)(process.execPath, args, { cwd: ROOT });
}

/** Packages of which something is in the books: styles and scripts of its pages, code blocks, the search. */
const BOOK = ['@astrojs/starlight', '@pagefind/default-ui', 'astro', 'expressive-code', 'pagefind'];

/** The files that the web interface, once built, the books and the API page are made from. */
export function pageInputs(): string[] {
  const lists = [CONSOLE_DIST, join(CONSOLE_DIST, 'operator')].map(
    (directory) => JSON.parse(readFileSync(join(directory, '.modules'), 'utf8')) as string[],
  );
  const ofConsole = [...new Set(lists.flat())].map((path) => resolve(ROOT, 'packages/console', path));
  const installed = join(ROOT, 'node_modules/.pnpm/node_modules');
  const ofBook = BOOK.map((name) => realpathSync(join(installed, name, 'package.json')));
  return [...ofConsole, ...ofBook, ...SWAGGER_UI_FILES.map((file) => join(SWAGGER_UI_FOLDER, file))];
}
