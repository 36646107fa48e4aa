import type { ClusterStack } from '../../stack/cluster.ts';
import { autoscaling } from './autoscaling.ts';
import { drain } from './drain.ts';
import { foreignPods } from './foreign-pods.ts';
import { ingress } from './ingress.ts';
import { lostPods } from './lost-pods.ts';
import { manifests } from './manifests.ts';
import { plans } from './plans.ts';
import { refusedUpgrade } from './refused-upgrade.ts';
import { reinstallation } from './reinstallation.ts';
import { rollingUpgrade } from './rolling-upgrade.ts';
import { rotation } from './rotation.ts';

/** What only a cluster can show, besides the specs that every stack passes. */
export function clusterSpecs(stack: () => ClusterStack): void {
  manifests(stack);
  refusedUpgrade(stack);
  plans(stack);
  ingress(stack);
  foreignPods(stack);
  rollingUpgrade(stack);
  drain(stack);
  lostPods(stack);
  rotation(stack);
  // Its gateway is scaled by the cluster afterwards, no longer by hand.
  autoscaling(stack);
  reinstallation(stack);
}
