import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiDocument } from '../services/account/src/api-document/api-document.ts';
import { createOperatorDocument } from '../services/account/src/api/operator.ts';
import { ANY_DOOR, createApiDocument } from '../services/account/src/api/owner.ts';
import { createServicesDocument } from '../services/account/src/api/services.ts';

/** `npm run openapi`: writes the documents of the three APIs, and the types of the console's client. */
const root = resolve(import.meta.dirname, '..');
const publicDocument = write('docs/openapi.json', createApiDocument(ANY_DOOR));
write('docs/openapi-operator.json', createOperatorDocument());
write('docs/openapi-services.json', createServicesDocument());
const generator = join(root, 'packages/console/node_modules/openapi-typescript/bin/cli.js');
const types = join(root, 'packages/console/src/api/schema.d.ts');
execFileSync(process.execPath, [generator, publicDocument, '-o', types], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
console.log(`Wrote ${types}`);

function write(path: string, document: ApiDocument): string {
  const whole = join(root, path);
  writeFileSync(whole, `${JSON.stringify(document, null, 2)}\n`);
  console.log(`Wrote ${whole}`);
  return whole;
}
