import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** Swagger UI's, from its npm package; in an image they lie beside the program (tools/images). */

/** In the files' addresses, so that browsers may keep them for good. A test holds it to the package. */
export const PAGE_FILES_VERSION = '5.35.0';

export const PAGE_FILES = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
} as const;

export type PageFile = { plain: Buffer; gzipped: Buffer };

const compress = promisify(gzip);
const loaded = new Map<string, Promise<PageFile>>();

/** Read and compressed once, when it is first asked for. */
export function loadPageFile(name: keyof typeof PAGE_FILES): Promise<PageFile> {
  const known = loaded.get(name) ?? readPageFile(name);
  loaded.set(name, known);
  return known;
}

async function readPageFile(name: keyof typeof PAGE_FILES): Promise<PageFile> {
  const plain = await readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
  return { plain, gzipped: await compress(plain, { level: 9 }) };
}
