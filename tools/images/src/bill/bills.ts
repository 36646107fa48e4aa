import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IMAGE_NAMES } from '../build/image-list.ts';
import { billOfImage, packagesIn } from './bill-of-image.ts';
import { isAllowed } from './licences.ts';

// `npm run sbom`: which packages are in which image, and their licences, from the working copy. With a folder as its
// argument it writes the bills of materials there. Exits with 1 if a licence isn't allowed.
const [folder] = process.argv.slice(2);

const rows = new Map<string, { licence: string; images: string[] }>();
if (folder !== undefined) mkdirSync(folder, { recursive: true });
for (const image of IMAGE_NAMES) {
  const packages = await packagesIn(image);
  if (folder !== undefined) {
    writeFileSync(join(folder, `tollgate-${image}.cdx.json`), billOfImage(image, packages));
  }
  for (const { name, version, licence } of packages) {
    const row = rows.get(`${name}@${version}`) ?? { licence, images: [] };
    row.images.push(image);
    rows.set(`${name}@${version}`, row);
  }
}
for (const [name, { licence, images }] of [...rows].sort(([one], [other]) => (one < other ? -1 : 1))) {
  process.stdout.write(`${[name.padEnd(44), licence.padEnd(24), images.join(', ')].join(' ')}\n`);
}
const refused = [...rows].filter(([, { licence }]) => !isAllowed(licence));
for (const [name, { licence }] of refused) {
  process.stderr.write(
    `${name}: the licence "${licence}" isn't in the list of tools/images/src/bill/licences.ts\n`,
  );
}
if (refused.length > 0) process.exitCode = 1;
