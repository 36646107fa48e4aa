import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { precompress } from './precompress.ts';

type Bundle = Parameters<Extract<NonNullable<Plugin['writeBundle']>, (...args: never) => unknown>>[1];

type Compressed = {
  /** Files that the build is made from, for SBOMs. */
  modules: () => readonly string[];
  /** Of each script, Brotli-compressed. @throws {Error} if a page is too heavy */
  weigh?: (bundle: Bundle, scriptBytes: ReadonlyMap<string, number>, say: (line: string) => void) => void;
};

/** Precompresses the build, and weighs it. */
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
      const scriptBytes = precompress(outDir);
      weigh?.(bundle, scriptBytes, (line) => {
        this.info(line);
      });
    },
  };
}
