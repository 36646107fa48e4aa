import { runOnCluster } from './topology.ts';

// Imported for this, before the suites: what they are made of asks for the topology as they are loaded.
runOnCluster();
