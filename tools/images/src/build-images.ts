import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IMAGE_NAMES } from './build/image-list.ts';
import { ROOT } from './build/root.ts';
import { imageTag } from './config.ts';

// `npm run images`: builds all images as docker compose does, and prints their sizes and layers. With --twice it builds
// them twice without a cache, and exits with 1 if a layer differs.
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const isTwice = process.argv.includes('--twice');

/** The digests of an image's layers, without the metadata, in which engines note when they built it. */
type Image = { name: string; bytes: number; layers: string[] };

function build(): Image[] {
  const options = isTwice ? ['--no-cache'] : [];
  execFileSync('docker', ['compose', '--progress=quiet', 'build', ...options], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  return IMAGE_NAMES.map((image) => {
    const name = `tollgate-${image}:${imageTag(version)}`;
    const [found] = JSON.parse(execFileSync('docker', ['image', 'inspect', name], { encoding: 'utf8' })) as [
      { Size: number; RootFS: { Layers: string[] } },
    ];
    return { name, bytes: found.Size, layers: found.RootFS.Layers };
  });
}

const images = build();
for (const { name, bytes, layers } of images) {
  process.stdout.write(`${name.padEnd(36)} ${(bytes / 1e6).toFixed(1).padStart(6)} MB\n`);
  for (const digest of layers) process.stdout.write(`  ${digest}\n`);
}
const shared = images.map(({ layers }) => layers[0]);
process.stdout.write(
  `${String(new Set(shared).size)} first layer for ${String(images.length)} images: Node.js.\n`,
);

if (isTwice) {
  const again = build();
  const changed = images.filter(({ layers }, index) => layers.join() !== again[index]?.layers.join());
  for (const { name } of changed) process.stderr.write(`${name} has other layers in the second build.\n`);
  if (changed.length === 0) process.stdout.write('The second build has the same layers.\n');
  else process.exitCode = 1;
}
