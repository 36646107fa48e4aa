import type { Values } from '../../stack/cluster/release.ts';

export const SERVICES = ['gateway', 'auth', 'account'] as const;

/** Values for each service, which has a second pod that goes on while the first is replaced. */
export function onAllServices(values: Values): Values {
  return Object.fromEntries(SERVICES.map((service) => [service, { replicas: 2, ...values }]));
}
