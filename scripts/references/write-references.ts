import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { references } from './references.ts';

/** `npm run references`: writes the generated lists of the documents. */
const root = resolve(import.meta.dirname, '../..');
for (const { path, is, should } of await references(root)) {
  if (is === should) continue;
  writeFileSync(`${root}/${path}`, should);
  console.log(`Wrote ${path}`);
}
