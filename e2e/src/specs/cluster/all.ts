import type { ClusterStack } from '../../stack/cluster.ts';
import { autoscaling } from './autoscaling.ts';
import { drain } from './drain.ts';
import { lostPods } from './lost-pods.ts';
import { rollingUpgrade } from './rolling-upgrade.ts';
import { rotation } from './rotation.ts';

/** What only a cluster can show, besides the specs that every stack passes. */
export function clusterSpecs(stack: () => ClusterStack): void {
  rollingUpgrade(stack);
  drain(stack);
  lostPods(stack);
  autoscaling(stack);
  rotation(stack);
}
