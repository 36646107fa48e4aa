import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const typescriptFolder = fileURLToPath(new URL('.', import.meta.resolve('@tollgate/client/package.json')));
const pythonFolder = join(typescriptFolder, '../python');

const PYTHON_FILES = ['pyproject.toml', 'README.md', 'CHANGELOG.md', 'LICENSE', 'src/**/*.{py,typed}'];

/** What the archives are made from. */
export const librarySources = [
  ...['package.json', 'tsconfig.build.json', 'src'].map((name) => join(typescriptFolder, name)),
  ...['pyproject.toml', 'src'].map((name) => join(pythonFolder, name)),
  ...[typescriptFolder, pythonFolder].flatMap((folder) =>
    ['README.md', 'CHANGELOG.md', 'LICENSE'].map((name) => join(folder, name)),
  ),
];

/**
 * The client libraries as npm and pip install them by address, and `SHA256SUMS.txt`: the same bytes from the same sources.
 *
 * @throws {Error} if TypeScript finds a fault
 */
export function packLibraries(outDir: string): void {
  const archives = [typescriptArchive(), pythonArchive()];
  for (const { path, content } of archives) {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), content);
  }
  const sums = archives.map(
    ({ path, content }) => `${createHash('sha256').update(content).digest('hex')}  ${path}\n`,
  );
  writeFileSync(join(outDir, 'SHA256SUMS.txt'), sums.join(''));
}

type Archive = { path: string; content: Buffer };

/** As `npm pack` names its files. */
function typescriptArchive(): Archive {
  const { version } = JSON.parse(readFileSync(join(typescriptFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const dist = mkdtempSync(join(tmpdir(), 'tollgate-client-'));
  try {
    const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
    const project = join(typescriptFolder, 'tsconfig.build.json');
    execFileSync(process.execPath, [tsc, '-p', project, '--outDir', dist], { stdio: 'inherit' });
    const built = filesOf(dist, ['*']).map(({ name, content }) => ({ name: `dist/${name}`, content }));
    const files = [
      ...filesOf(typescriptFolder, ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE']),
      ...built,
    ];
    return { path: `npm/tollgate-client-${version}.tgz`, content: packed('package', files) };
  } finally {
    rmSync(dist, { recursive: true });
  }
}

/** The sources, of which pip builds the wheel. */
function pythonArchive(): Archive {
  const project = readFileSync(join(pythonFolder, 'pyproject.toml'), 'utf8');
  const [, version = ''] = /^version = "(.+)"$/m.exec(project) ?? [];
  const name = `tollgate_client-${version}`;
  return { path: `python/${name}.tgz`, content: packed(name, filesOf(pythonFolder, PYTHON_FILES)) };
}

type File = { name: string; content: Buffer };

function filesOf(folder: string, patterns: string[]): File[] {
  const names = globSync(patterns, { cwd: folder }).toSorted();
  return names.map((name) => ({ name, content: readFileSync(join(folder, name)) }));
}

const BLOCK_BYTES = 512;

/** A gzipped tar (POSIX ustar), without times and owners. */
function packed(folder: string, files: readonly File[]): Buffer {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  const parts = files.flatMap(({ name, content }) => {
    const header = Buffer.alloc(BLOCK_BYTES);
    const fields: [offset: number, text: string][] = [
      [0, `${folder}/${name}`],
      [100, octal(0o644, 7) + octal(0, 7) + octal(0, 7) + octal(content.length, 11) + octal(0, 11)],
      // The checksum counts itself as spaces.
      [148, '        0'],
      [257, 'ustar\0' + '00'],
    ];
    for (const [offset, text] of fields) header.write(text, offset);
    header.write(
      octal(
        header.reduce((sum, byte) => sum + byte, 0),
        6,
      ),
      148,
    );
    return [header, content, Buffer.alloc(-content.length & (BLOCK_BYTES - 1))];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK_BYTES)]), { level: 9 });
}
