import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'vite';

/**
 * Builds the web interface into packages/console/dist, unless that is what the sources give already. The build
 * is put in place whole, so that launchers that start side by side never serve half of one. `--sizes` prints
 * what each page loads.
 */
const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.sources');
const sources = hashOfSources();

// A suite's NODE_ENV=test would give React's development build.
process.env['NODE_ENV'] = 'production';

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sources) {
  const fresh = join(root, `dist.${String(process.pid)}`);
  const former = `${fresh}.former`;
  try {
    const logLevel = process.argv.includes('--sizes') ? 'info' : 'warn';
    // Customers' first: it empties the directory.
    for (const [config, outDir] of [
      ['vite.config.ts', fresh],
      ['vite.operator.config.ts', join(fresh, 'operator')],
    ] as const) {
      await build({ root, configFile: join(root, config), logLevel, build: { outDir } });
    }
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(join(fresh, '.sources'), sources);
  if (existsSync(dist)) renameSync(dist, former);
  renameSync(fresh, dist);
  rmSync(former, { recursive: true, force: true });
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((name) => statSync(join(root, name)).isFile());
  // The bundles have some of the contracts.
  const sourceFiles = [...below('src'), ...below('../contracts/src')];
  const scripts = readdirSync(import.meta.dirname).map((name) => join('scripts', name));
  const others = [
    'index.html',
    'operator.html',
    'vite.config.ts',
    'vite.operator.config.ts',
    'package.json',
    ...scripts,
  ];
  for (const name of [...sourceFiles, ...others].sort()) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0');
  }
  return hash.digest('hex');
}
