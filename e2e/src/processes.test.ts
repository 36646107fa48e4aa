import { afterAll, beforeAll } from '@jest/globals';
import { allSpecs } from './specs/all.ts';
import { rawConnections } from './specs/raw-connections.ts';
import { readOnlyStores } from './specs/read-only-stores.ts';
import { startProcessStack } from './stack/processes.ts';
import type { ProcessStack } from './stack/processes.ts';

/** A machine that does much else takes minutes. */
const START_TIME_LIMIT_MS = 360_000;

let stack: ProcessStack;
beforeAll(async () => {
  stack = await startProcessStack();
}, START_TIME_LIMIT_MS);
afterAll(() => stack.stop());

allSpecs(() => stack);
readOnlyStores(() => stack);
rawConnections(() => stack);
