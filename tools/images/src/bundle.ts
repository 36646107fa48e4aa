import { basename, resolve } from 'node:path';
import { build } from 'esbuild';

// Bundles a room's entry points, each into one ES module with a source map, for an image without node_modules:
// node tools/images/src/bundle.ts services/account /out main programs/migrate
const [room, outdir, ...entries] = process.argv.slice(2);
if (room === undefined || outdir === undefined || entries.length === 0) {
  process.stderr.write('Usage: bundle.ts <room> <output folder> <entry point>...\n');
  process.exit(1);
}

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

await build({
  entryPoints: entries.map((entry) => ({ in: resolve(room, 'src', `${entry}.ts`), out: basename(entry) })),
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  external: OPTIONAL,
  banner: { js: COMMONJS_BANNER },
  sourcemap: 'linked',
  // Stack traces show lines; the sources themselves would double the image.
  sourcesContent: false,
  legalComments: 'linked',
  keepNames: true,
  // Independent of any tsconfig.json above.
  tsconfigRaw: {},
  logLevel: 'warning',
});
