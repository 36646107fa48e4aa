import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { dropUnsolicitedContinue } from '@tollgate/plain-http/client/unsolicited-continue';
import type { HeadWatch } from '@tollgate/plain-http/client/unsolicited-continue';
import { isPublicAddress } from './public-address.ts';

/** Doesn't tell whether the host exists, or which addresses it has. */
export class NoPublicAddressError extends Error {
  constructor(options?: ErrorOptions) {
    super('the host has no public address', options);
  }
}

export type ConnectorOptions = {
  connectTimeoutMs: number;
  allowPrivateAddresses: boolean;
  /** `address` or `address:port`; the system's servers if empty. */
  dnsServers: readonly string[];
};

/**
 * Resolves when connecting and connects only to a checked address, so DNS rebinding has no effect. Asks DNS
 * directly: the system's resolver would let slow DNS servers occupy Node's threads, and would read
 * /etc/hosts.
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
      // For an IP address, no look-up is made.
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
      if (isIP(host) !== 0 && !isAllowed(host)) done(new NoPublicAddressError(), null);
      else {
        connect(options, (...opened) => {
          if (opened[0] === null) dropUnsolicitedContinue(opened[1], watchOneHead());
          done(...opened);
        });
      }
    },
    maxHeaderSize: 16_384,
    // One request per connection: the bytes that come before its response's head can't belong to another one.
    pipelining: 0,
  });
}

function watchOneHead(): HeadWatch {
  let awaitsHead = true;
  return {
    awaitsHead: () => awaitsHead,
    headCame: () => {
      awaitsHead = false;
    },
  };
}

async function resolveAll(resolver: Resolver, hostname: string) {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  const addresses = (found: typeof four, family: number) =>
    found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
  return [...addresses(four, 4), ...addresses(six, 6)];
}
