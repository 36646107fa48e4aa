import { afterAll, beforeAll } from '@jest/globals';
import { servedByCluster } from './specs/all.ts';
import { clusterSpecs } from './specs/cluster/all.ts';
import { startClusterStack } from './stack/cluster.ts';
import type { ClusterStack } from './stack/cluster.ts';

/** Building images from nothing downloads what the lockfile names. */
const BUILD_TIME_LIMIT_MS = 600_000;

let stack: ClusterStack;
let stop: ClusterStack['stop'] | undefined;
beforeAll(async () => {
  stack = await startClusterStack();
  stop = stack.stop;
}, BUILD_TIME_LIMIT_MS);
afterAll(() => stop?.(), 120_000);

servedByCluster(() => stack);
clusterSpecs(() => stack);
