import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { billOfImage } from '../bill/bill-of-image.ts';
import { packagesOf } from '../bill/packages.ts';
import {
  buildPages,
  CONSOLE_DIST,
  DOCS_DIST,
  pageInputs,
  SWAGGER_UI_FILES,
  SWAGGER_UI_FOLDER,
} from './account-pages.ts';
import { bundle } from './bundle.ts';
import { fixTimes } from './fixed-times.ts';
import { imageNamed, IMAGES } from './image-list.ts';
import type { ImageContents } from './image-list.ts';

// Writes all files of an image but Node.js below a folder, for the Dockerfile:
// node tools/images/src/build/image-files.ts account /files
const [name, root = '/files'] = process.argv.slice(2);
const image = imageNamed(name);
const contents: ImageContents = IMAGES[image];
const app = join(root, 'app');

mkdirSync(app, { recursive: true });
const inputs: string[] = [];
for (const { room, entries } of contents.programs) {
  const bundled = await bundle(room, entries, app);
  for (const { path, content } of bundled.files) writeFileSync(path, content);
  inputs.push(...bundled.inputs);
}
for (const command of contents.commands ?? []) {
  const folder = join(root, 'usr/local/bin');
  mkdirSync(folder, { recursive: true });
  chmodSync(join(app, `${command}.mjs`), 0o755);
  symlinkSync(`/app/${command}.mjs`, join(folder, command));
}
if (contents.pages === true) {
  await buildPages();
  inputs.push(...pageInputs());
  // What the build notes for itself isn't served.
  for (const [dist, folder] of [
    [CONSOLE_DIST, 'console'],
    [DOCS_DIST, 'docs'],
  ] as const)
    cpSync(dist, join(app, folder), {
      recursive: true,
      filter: (file) => file === dist || !basename(file).startsWith('.'),
    });
  // Found where the package would be.
  const folder = join(app, 'node_modules/swagger-ui-dist');
  mkdirSync(folder, { recursive: true });
  for (const file of SWAGGER_UI_FILES) cpSync(join(SWAGGER_UI_FOLDER, file), join(folder, file));
}
for (const folder of contents.ownedFolders ?? [])
  mkdirSync(join(`${root}-owned`, folder), { recursive: true });
// By this ending vulnerability scanners find it.
writeFileSync(join(app, 'sbom.cdx.json'), billOfImage(image, packagesOf(inputs)));
fixTimes(root);
if (contents.ownedFolders !== undefined) fixTimes(`${root}-owned`);
