import { afterAll } from '@jest/globals';
import { useRedisCluster } from '@tollgate/testbed/config';
import { stopIdleClusters } from './topology.ts';

// Set-up file of Jest's project redis-cluster, which loads it before the suite.
useRedisCluster();
afterAll(stopIdleClusters);
