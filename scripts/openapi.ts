import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ANY_DOOR, createApiDocument } from '../services/account/src/api/owner.ts';

/** `npm run openapi`: writes docs/openapi.json and the types of the console's client. */
const root = resolve(import.meta.dirname, '..');
const path = join(root, 'docs/openapi.json');
writeFileSync(path, `${JSON.stringify(createApiDocument(ANY_DOOR), null, 2)}\n`);
const generator = join(root, 'packages/console/node_modules/openapi-typescript/bin/cli.js');
const types = join(root, 'packages/console/src/api/schema.d.ts');
execFileSync(process.execPath, [generator, path, '-o', types], { stdio: ['ignore', 'ignore', 'inherit'] });
console.log(`Wrote ${path} and ${types}`);
