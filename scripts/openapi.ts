import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ApiDocument } from '../packages/operation/src/document/api-document.ts';
import { createOperatorConsoleDocument } from '../services/account/src/api/operator-console.ts';
import { createOperatorDocument } from '../services/account/src/api/operator.ts';
import { ANY_DOOR, createApiDocument } from '../services/account/src/api/owner.ts';
import { createServicesDocument } from '../services/account/src/api/services.ts';
import { createAuthDocument } from '../services/auth/src/api-document.ts';

/** `npm run openapi`: writes the documents of the APIs, and the types of the console's and the command's clients. */
const root = resolve(import.meta.dirname, '..');
writeDocument('docs/openapi.json', createApiDocument(ANY_DOOR));
writeTypes('docs/openapi.json', 'packages/console');
writeDocument('docs/openapi-operator.json', createOperatorDocument());
writeTypes('docs/openapi-operator.json', 'tools/command');
writeDocument('docs/openapi-operator-console.json', createOperatorConsoleDocument());
writeTypes('docs/openapi-operator-console.json', 'packages/console', 'src/operator/api/schema.d.ts');
writeDocument('docs/openapi-services.json', createServicesDocument());
writeDocument('docs/openapi-auth.json', createAuthDocument());

function writeDocument(path: string, document: ApiDocument): void {
  writeFileSync(join(root, path), `${JSON.stringify(document, null, 2)}\n`);
  console.log(`Wrote ${path}`);
}

function writeTypes(document: string, room: string, file = 'src/api/schema.d.ts'): void {
  const generator = join(root, room, 'node_modules/openapi-typescript/bin/cli.js');
  const types = join(room, file);
  execFileSync(process.execPath, [generator, document, '-o', types], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(`Wrote ${types}`);
}
