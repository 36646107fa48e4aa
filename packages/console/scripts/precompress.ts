import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

/**
 * `build.ts --uncompressed`, as `npm start` calls it: most of a build's time is Brotli's, and on one machine nothing is
 * gained by it.
 */
export const isCompressed = !process.argv.includes('--uncompressed');

const COMPRESSIBLE = /\.(?:css|js|svg)$/;

/**
 * Writes a Brotli and a gzip file beside each style, script and drawing, so that account compresses nothing while it serves.
 *
 * Returns the bytes of each script, Brotli-compressed, by its path below the directory; of none if the build isn't
 * compressed.
 */
export function precompress(directory: string): Map<string, number> {
  const scriptBytes = new Map<string, number>();
  if (!isCompressed) return scriptBytes;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSIBLE.test(name)) continue;
    const content = readFileSync(join(directory, name));
    const brotli = brotliCompressSync(content);
    if (name.endsWith('.js')) scriptBytes.set(name, brotli.length);
    writeFileSync(join(directory, `${name}.br`), brotli);
    writeFileSync(join(directory, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
  return scriptBytes;
}
