import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ANY_DOOR, createApiDocument } from '../services/account/src/api-document/api-document.ts';

/** `npm run openapi`: writes docs/openapi.json, in which a review sees what a change does to the API. */
const path = join(resolve(import.meta.dirname, '..'), 'docs/openapi.json');
writeFileSync(path, `${JSON.stringify(createApiDocument(ANY_DOOR), null, 2)}\n`);
console.log(`Wrote ${path}`);
