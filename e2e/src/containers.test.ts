import { afterAll, beforeAll } from '@jest/globals';
import { deployedSpecs } from './specs/all.ts';
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

deployedSpecs(() => stack);
images(() => stack);
