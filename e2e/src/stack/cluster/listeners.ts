import { freePort } from '@tollgate/stack/ports';
import type { Kubectl } from './commands.ts';
import { forwardPort } from './forwarded-port.ts';
import type { ForwardedPort } from './forwarded-port.ts';
import { RELEASE } from './release.ts';

/** A listener of the chart: its Service, and the port of this machine that leads there. */
type Listener = { service: string; servicePort: number; port: number };

const LISTENERS = {
  gateway: ['gateway', 4000],
  gatewayPrivate: ['gateway-private', 4100],
  auth: ['auth', 4001],
  authPrivate: ['auth-private', 4101],
  account: ['account', 4002],
  accountPrivate: ['account-private', 4102],
} as const;

export type ListenerName = keyof typeof LISTENERS;
export type Listeners = Record<ListenerName, Listener>;

/** Ports of this machine that are free, one for each listener. */
export async function freeListeners(): Promise<Listeners> {
  const taken = new Set<number>();
  const entries = [];
  for (const [name, [suffix, servicePort]] of Object.entries(LISTENERS)) {
    let port = await freePort();
    while (taken.has(port)) port = await freePort();
    taken.add(port);
    entries.push([name, { service: `${RELEASE}-${suffix}`, servicePort, port }] as const);
  }
  return Object.fromEntries(entries) as Listeners;
}

/** Leads each listener's port to its Service, as it is now: a Service that is made again has another address. */
export async function forwardListeners(kubectl: Kubectl, listeners: Listeners): Promise<ForwardedPort> {
  const forwarded = await Promise.all(
    Object.values(listeners).map(async ({ service, servicePort, port }) =>
      forwardPort(port, { host: await addressOf(kubectl, service), port: servicePort }),
    ),
  );
  return {
    close: async () => {
      await Promise.all(forwarded.map((each) => each.close()));
    },
  };
}

export function urlsOf(listeners: Listeners): Record<ListenerName, string> {
  return Object.fromEntries(
    Object.entries(listeners).map(([name, listener]) => [name, urlOf(listener)]),
  ) as Record<ListenerName, string>;
}

export const urlOf = ({ port }: Listener) => `http://localhost:${String(port)}`;

/** The address of a Service inside the cluster, which the node reaches as well. */
export function addressOf(kubectl: Kubectl, service: string): Promise<string> {
  return kubectl('get', 'service', service, '--output=jsonpath={.spec.clusterIP}');
}
