import { afterAll, beforeAll } from '@jest/globals';
import { allSpecs } from './specs/all.ts';
import { startProcessStack } from './stack/processes.ts';
import type { Stack } from './stack/stack.ts';

const START_TIME_LIMIT_MS = 120_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startProcessStack();
}, START_TIME_LIMIT_MS);
afterAll(() => stack.stop());

allSpecs(() => stack);
