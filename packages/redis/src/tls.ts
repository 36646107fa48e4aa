import type { ConnectionOptions } from 'node:tls';
import type { RedisAddress } from './redis-url.ts';

/** How to verify servers, and this process' own certificate; PEM. */
export type RedisTls = {
  /** Certificate authorities, instead of those that Node.js trusts. */
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  /** The name in the servers' certificates, if it isn't the host that is connected to. */
  serverName?: string | undefined;
};

/** For ioredis, whose `tls` turns TLS on by being there. */
export function tlsOptions(
  address: Pick<RedisAddress, 'tls'>,
  tls: RedisTls = {},
): { tls?: ConnectionOptions } {
  if (!address.tls) return {};
  const { serverName, ...credentials } = tls;
  return { tls: { ...credentials, ...(serverName === undefined ? {} : { servername: serverName }) } };
}
