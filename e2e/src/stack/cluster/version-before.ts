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
  for (const name of IMAGES) {
    const lines = [
      `FROM ${builtImage(name)}`,
      `LABEL org.opencontainers.image.version=${before}`,
      // The sample upstream states no version.
      ...(name === 'upstream' ? [] : restating(version, before)),
    ];
    const args = ['build', '--quiet', '--force-rm', '--network=none', '--tag', imageBefore(name), '-'];
    await runCommand('docker', args, lines.join('\n'));
  }
}

/** Replaces the version that an image's programs state. Done by Node.js, since the images have no shell. */
function restating(version: string, before: string): string[] {
  const [stated, restated] = [version, before].map((each) => JSON.stringify(`version: "${each}"`));
  const script = `
    for (const file of fs.globSync('/app/*.mjs')) {
      const program = fs.readFileSync(file, 'utf8');
      if (file === '/app/main.mjs' && !program.includes(${stated ?? ''})) throw new Error('states no version');
      fs.writeFileSync(file, program.replaceAll(${stated ?? ''}, ${restated ?? ''}));
    }`;
  return ['USER 0', `RUN ${JSON.stringify(['node', '-e', script])}`, 'USER 1000:1000'];
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
