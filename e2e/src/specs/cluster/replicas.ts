import type { ClusterStack } from '../../stack/cluster.ts';
import type { Values } from '../../stack/cluster/release.ts';

export const SERVICES = ['gateway', 'auth', 'account'] as const;

/** Values for each service, which has a second pod that goes on while the first is replaced. */
export function onAllServices(values: Values): Values {
  return Object.fromEntries(SERVICES.map((service) => [service, { replicas: 2, ...values }]));
}

/** Two pods of each service. Scaled by hand, unlike by an upgrade, those that run stay, and no migration runs. */
export async function scaleToTwo({ kubectl }: Pick<ClusterStack, 'kubectl'>): Promise<void> {
  const deployments = SERVICES.map((service) => `deployment/tollgate-${service}`);
  await kubectl('scale', '--replicas=2', ...deployments);
  await kubectl('rollout', 'status', 'deployment', '--timeout=120s');
}
