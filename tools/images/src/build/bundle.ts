import { basename, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { ROOT } from './root.ts';

/** The images have no `env`. */
const HASHBANG = '#!/usr/local/bin/node';

/** Optional dependencies of dependencies, which nothing here installs. */
const OPTIONAL = [
  'better-sqlite3',
  'mariadb',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];

/** CommonJS dependencies expect these, and an ES module lacks them. */
const COMMONJS_BANNER = [
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = import.meta.filename;',
  'const __dirname = import.meta.dirname;',
].join('\n');

const BUILTIN = 'builtin';

/**
 * An import of these evaluates each of their exports, such as all root certificates and a WebSocket client; `require`
 * evaluates what is used. A third of what the start of a small program costs.
 */
const BUILTINS_BY_REQUIRE: Plugin = {
  name: 'builtins-by-require',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^(?:node:)?(?:http|https|http2|tls)$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: BUILTIN } : { path, external: true },
    );
    bundling.onLoad({ filter: /^/, namespace: BUILTIN }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

export type BundledFile = { path: string; content: string };

/**
 * Bundles a room's entry points, each into one ES module with a source map, for an image without node_modules.
 * `inputs` are the source files that something of is in a bundle.
 */
export async function bundle(
  room: string,
  entries: readonly string[],
  outdir: string,
): Promise<{ files: BundledFile[]; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: entries.map((entry) => ({
      in: resolve(ROOT, room, 'src', `${entry}.ts`),
      out: basename(entry),
    })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    // The one that the image gets.
    target: `node${process.versions.node}`,
    format: 'esm',
    external: OPTIONAL,
    plugins: [BUILTINS_BY_REQUIRE],
    banner: { js: COMMONJS_BANNER },
    sourcemap: 'linked',
    // Stack traces show lines; the sources themselves would double the image.
    sourcesContent: false,
    legalComments: 'linked',
    keepNames: true,
    // Independent of any tsconfig.json above.
    tsconfigRaw: {},
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return {
    files: outputFiles.map(({ path, text }) => ({ path, content: text.replace(/^#!.*/, HASHBANG) })),
    inputs: [...new Set(inputs)]
      .filter((path) => !path.startsWith(`${BUILTIN}:`))
      .map((path) => resolve(ROOT, path)),
  };
}
