import { join, resolve } from 'node:path';
import { builtOnce } from './built-once.ts';

/** Builds the web interface into packages/console/dist. `--sizes` prints what each page loads. */
const root = resolve(import.meta.dirname, '..');

// A suite's NODE_ENV=test would give React's development build.
process.env['NODE_ENV'] = 'production';

await builtOnce({
  root,
  dist: join(root, 'dist'),
  sources: [
    'src',
    'scripts',
    'index.html',
    'operator.html',
    'operator-view.html',
    'vite.config.ts',
    'vite.operator.config.ts',
    'package.json',
    // The bundles have some of the contracts.
    '../contracts/src',
  ].map((name) => join(root, name)),
  build: async (outDir) => {
    // An unchanged build needs none of it.
    const { build } = await import('vite');
    const logLevel = process.argv.includes('--sizes') ? 'info' : 'warn';
    // Customers' first: it empties the directory.
    for (const [config, directory] of [
      ['vite.config.ts', outDir],
      ['vite.operator.config.ts', join(outDir, 'operator')],
    ] as const) {
      await build({ root, configFile: join(root, config), logLevel, build: { outDir: directory } });
    }
  },
});
