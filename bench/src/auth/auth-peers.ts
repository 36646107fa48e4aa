import type { AuthPeer } from './auth-peer.ts';
import { firstLine } from '../load/first-line.ts';
import { findHydra, startHydra } from './hydra.ts';
import { dependency } from '../report/run-facts.ts';
import type { Servers } from '../servers.ts';

export type AuthPeers = { peers: [AuthPeer, ...AuthPeer[]]; leftOut: string[] };

const started = new WeakMap<Servers, Promise<AuthPeers>>();

/** oidc-provider and, if available, Hydra: started once for all parts. The results say why one is missing. */
export function authPeers(servers: Servers, say: (line: string) => void): Promise<AuthPeers> {
  const known = started.get(servers) ?? startAuthPeers(servers, say);
  started.set(servers, known);
  return known;
}

async function startAuthPeers(servers: Servers, say: (line: string) => void): Promise<AuthPeers> {
  const { pid, url, clientId, clientSecret } = servers.peer;
  const peers: AuthPeers['peers'] = [
    {
      name: 'oidc-provider',
      pid,
      clientId,
      clientSecret,
      introspectsByBasic: true,
      tokenUrl: `${url}/oauth2/token`,
      introspectionUrl: `${url}/oauth2/introspect`,
      version: dependency('../../package.json', 'oidc-provider'),
    },
  ];
  const leftOut: string[] = [];
  const leaveOut = (name: string, reason: string) => {
    leftOut.push(`${name} is left out: ${reason}`);
    say(leftOut.at(-1) ?? '');
  };
  const hydra = await findHydra(servers, say).catch((error: unknown) => {
    leaveOut('Hydra', firstLine(error));
  });
  if (hydra === undefined) return { peers, leftOut };
  const needs = { SQLite: ' (its binary needs the build tag sqlite)', Postgres: '' };
  for (const store of ['SQLite', 'Postgres'] as const) {
    try {
      peers.push(await startHydra(servers, hydra, store));
    } catch (error) {
      leaveOut(`Hydra with ${store}`, `${firstLine(error)}${needs[store]}`);
    }
  }
  return { peers, leftOut };
}
