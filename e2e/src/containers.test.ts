import { afterAll, beforeAll } from '@jest/globals';
import { allSpecs } from './specs/all.ts';
import { MAIN_JOURNEYS } from './specs/console-journeys.ts';
import { images } from './specs/operations/images.ts';
import { startContainerStack } from './stack/containers.ts';
import type { ContainerStack } from './stack/containers.ts';

/** Building images from nothing downloads what the lockfile names. */
const BUILD_TIME_LIMIT_MS = 600_000;

let stack: ContainerStack;
let stop: ContainerStack['stop'] | undefined;
beforeAll(async () => {
  stack = await startContainerStack();
  stop = stack.stop;
}, BUILD_TIME_LIMIT_MS);
afterAll(() => stop?.());

// The other journeys run over processes, and in a cluster over the same images.
allSpecs(() => stack, MAIN_JOURNEYS);
images(() => stack);
