import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';

/** The host has no address that may be connected to. Which it has, and whether it exists, is not told. */
export class NoPublicAddressError extends Error {
  constructor(options?: ErrorOptions) {
    super('the host has no public address', options);
  }
}

export type ConnectorOptions = {
  connectTimeoutMs: number;
  allowPrivateAddresses: boolean;
  /** `address` or `address:port` of the DNS servers to be asked; the system's where there are none. */
  dnsServers: readonly string[];
};

/**
 * Connections to what account holders name. The host is resolved when the connection is made and only an address that
 * was looked at is connected to, so that a name which leads elsewhere a moment later changes nothing. DNS is asked
 * directly: the system's resolver would let slow servers of strangers hold the threads that everything else waits
 * for, and would read what this machine alone knows, as /etc/hosts.
 */
export function createWebhookAgent({
  connectTimeoutMs,
  allowPrivateAddresses,
  dnsServers,
}: ConnectorOptions): Agent {
  const resolver = new Resolver({ timeout: Math.ceil(connectTimeoutMs / 2), tries: 2 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  const isAllowed = (address: string) => allowPrivateAddresses || isPublicAddress(address);

  const lookup: LookupFunction = (hostname, { all }, done) => {
    resolveAll(resolver, hostname).then(
      (found) => {
        const allowed = found.filter(({ address }) => isAllowed(address));
        const [first] = allowed;
        if (first === undefined) done(new NoPublicAddressError(), '');
        else if (all === true) done(null, allowed);
        else done(null, first.address, first.family);
      },
      (cause: unknown) => {
        done(new NoPublicAddressError({ cause }), '');
      },
    );
  };
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup });
  return new Agent({
    connect: (options, done) => {
      // Of what is an address already nobody asks the look-up.
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      if (isIP(host) !== 0 && !isAllowed(host)) done(new NoPublicAddressError(), null);
      else connect(options, done);
    },
    maxHeaderSize: 16_384,
  });
}

async function resolveAll(resolver: Resolver, hostname: string) {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  const addresses = (found: typeof four, family: number) =>
    found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
  return [...addresses(four, 4), ...addresses(six, 6)];
}
