import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const COMPRESSIBLE = /\.(?:html|css|js|svg)$/;

type Bundle = Parameters<Extract<NonNullable<Plugin['writeBundle']>, (...args: never) => unknown>>[1];

type Compressed = {
  /** Files that the build is made from, for SBOMs. */
  modules: () => readonly string[];
  /** Of each script, Brotli-compressed. @throws {Error} if a page is too heavy */
  weigh?: (bundle: Bundle, scriptBytes: ReadonlyMap<string, number>, say: (line: string) => void) => void;
};

/** Writes a Brotli and a gzip file beside each text file, so that account compresses nothing while it serves. */
export function compressed({ modules, weigh }: Compressed): Plugin {
  let outDir = '';
  return {
    name: 'tollgate-compressed',
    apply: 'build',
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    writeBundle(_options, bundle) {
      writeFileSync(join(outDir, '.modules'), JSON.stringify(modules()));
      const scriptBytes = new Map<string, number>();
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSIBLE.test(name)) continue;
        const content = readFileSync(join(outDir, name));
        const brotli = brotliCompressSync(content);
        if (name.endsWith('.js')) scriptBytes.set(name, brotli.length);
        writeFileSync(join(outDir, `${name}.br`), brotli);
        writeFileSync(join(outDir, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
      weigh?.(bundle, scriptBytes, (line) => {
        this.info(line);
      });
    },
  };
}
