import { runOnCluster } from './topology.ts';

// Set-up file of Jest's project redis-cluster, which loads it before the suite.
runOnCluster();
