import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

/** All script there is loads with the first page, and is usable on a slow connection. */
const SCRIPT_BUDGET_BYTES = 150_000;

const COMPRESSIBLE = /\.(?:html|css|js|svg)$/;

/** Writes a Brotli and a gzip file beside each text file, so that account compresses nothing while it serves. */
function compressed(): Plugin {
  let outDir = '';
  return {
    name: 'tollgate-compressed',
    apply: 'build',
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    writeBundle() {
      let scriptBytes = 0;
      for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
        if (!COMPRESSIBLE.test(name)) continue;
        const content = readFileSync(join(outDir, name));
        const brotli = brotliCompressSync(content);
        if (name.endsWith('.js')) scriptBytes += brotli.length;
        writeFileSync(join(outDir, `${name}.br`), brotli);
        writeFileSync(join(outDir, `${name}.gz`), gzipSync(content, { level: 9 }));
      }
      if (scriptBytes > SCRIPT_BUDGET_BYTES) {
        throw new Error(
          `The script has ${String(scriptBytes)} bytes, of ${String(SCRIPT_BUDGET_BYTES)} allowed (Brotli).`,
        );
      }
    },
  };
}

/**
 * A static build that account serves under /user. Nothing is inlined: the page's policy allows neither inline
 * scripts nor inline styles. The dev server passes the API on to a running stack (`npm start`).
 */
export default defineConfig({
  base: '/user/',
  plugins: [react(), compressed()],
  build: {
    outDir: 'dist',
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/api': { target: 'http://127.0.0.1:4000' } },
  },
});
