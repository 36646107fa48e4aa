import { readFileSync, writeFileSync } from 'node:fs';
import { createProgram } from '../program.ts';
import { reference, withReference } from './reference.ts';

/** Brings the reference in docs/command.md up to date: `node tools/command/src/reference/write-reference.ts`. */
const file = new URL('../../../../docs/command.md', import.meta.url);
writeFileSync(file, withReference(readFileSync(file, 'utf8'), reference(createProgram())));
