import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './root.ts';

export const CONSOLE_DIST = join(ROOT, 'packages/console/dist');

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

/** Builds the web interface, unless it is built already. */
export async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, ['packages/console/scripts/build.ts'], { cwd: ROOT });
}

/** The files that the web interface, once built, and the API page are made from. */
export function pageInputs(): string[] {
  const lists = [CONSOLE_DIST, join(CONSOLE_DIST, 'operator')].map(
    (directory) => JSON.parse(readFileSync(join(directory, '.modules'), 'utf8')) as string[],
  );
  const ofConsole = [...new Set(lists.flat())].map((path) => resolve(ROOT, 'packages/console', path));
  return [...ofConsole, ...SWAGGER_UI_FILES.map((file) => join(SWAGGER_UI_FOLDER, file))];
}
