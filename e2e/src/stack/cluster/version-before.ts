import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtImage } from '../images.ts';
import type { BuiltImage } from '../images.ts';
import { runCommand } from './commands.ts';
import { CHART, repositoryOf } from './release.ts';
import type { Values } from './release.ts';

/**
 * No release precedes this chart. What stands in for the version before are the images and the chart of the working
 * copy under another version number, which the programs state in `tollgate_build_info`: all that an upgrade replaces is
 * replaced, and the migration of the new version runs next to the other one's pods.
 */
export type VersionBefore = { version: string; values: Values };

const TAG = 'e2e-before';
const IMAGES: readonly BuiltImage[] = ['auth', 'account', 'gateway', 'upstream'];

export const IMAGES_BEFORE = IMAGES.map(imageBefore);

function imageBefore(name: BuiltImage): string {
  return `${repositoryOf(builtImage(name))}:${TAG}`;
}

/** Makes the images of the version before from those of this one, which exist. */
export async function buildImagesBefore(): Promise<void> {
  const { version, before } = await versions();
  const stated = `version: "${version}"`;
  for (const name of IMAGES) {
    // The sample upstream states no version.
    const change =
      name === 'upstream'
        ? []
        : [
            'USER 0',
            `RUN ${JSON.stringify(['node', '--eval', replaceInPrograms(stated, before)])}`,
            'USER 1000:1000',
          ];
    const dockerfile = [
      `FROM ${builtImage(name)}`,
      `LABEL org.opencontainers.image.version=${before}`,
      ...change,
    ];
    await runCommand(
      'docker',
      ['build', '--quiet', '--force-rm', '--network=none', '--tag', imageBefore(name), '-'],
      dockerfile.join('\n'),
    );
  }
}

/** A script, since the images have no other program than Node.js. */
function replaceInPrograms(stated: string, version: string): string {
  return `
    const { globSync, readFileSync, writeFileSync } = require('node:fs');
    for (const file of globSync('/app/*.mjs')) {
      const program = readFileSync(file, 'utf8');
      if (file === '/app/main.mjs' && !program.includes('${stated}')) throw new Error('It states no version.');
      writeFileSync(file, program.replaceAll('${stated}', 'version: "${version}"'));
    }`;
}

/** Does something with the chart of the version before, which is a file meanwhile. */
export async function withChartBefore<T>(
  act: (chart: string, before: VersionBefore) => Promise<T>,
): Promise<T> {
  const { before } = await versions();
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-chart-'));
  try {
    const args = ['--version', before, '--app-version', before, '--destination', directory];
    await runCommand('helm', ['package', CHART, ...args]);
    const chart = join(directory, `tollgate-${before}.tgz`);
    return await act(chart, { version: before, values: { image: { tag: TAG } } });
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function versions(): Promise<{ version: string; before: string }> {
  const chart = await readFile(join(CHART, 'Chart.yaml'), 'utf8');
  const version = /^version: (.+)$/m.exec(chart)?.[1] ?? '';
  return { version, before: `${version}-before` };
}
