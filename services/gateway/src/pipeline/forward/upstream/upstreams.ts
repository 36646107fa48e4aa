import { createHttpPool } from '@tollgate/plain-http/client';
import type { HttpPool } from '@tollgate/plain-http/client';
import { createAddressChoice } from './address-choice.ts';
import { createAddressHealth } from './ejection.ts';
import type { AddressHealth, EjectionRules } from './ejection.ts';
import type { PriceFault } from '../price/price.ts';
import type { FailureKind, UpstreamObserver } from './metrics.ts';

export type UpstreamAddress = {
  /** Scheme, host and port. */
  origin: string;
  host: string;
  port: number;
  path: string;
  pool: HttpPool;
  inFlight: number;
  health: AddressHealth;
  observeHeaders: (seconds: number) => void;
  onFailure: (kind: FailureKind) => void;
  /** Whether any of its responses has stated its price. */
  statesPrices: boolean;
  onUnpriced: (fault: PriceFault) => void;
};

export type UpstreamsOptions = {
  urls: readonly string[];
  /** For each address. */
  connections: number;
  /** Of one payer. Streams don't count. */
  connectionsPerPayer: number;
  /** Calls that may wait for a connection. */
  maxWaiting: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyIdleTimeoutMs: number;
  /** For an unused connection. */
  keepAliveMs: number;
  /** See @tollgate/plain-http/client. */
  connectionMaxAgeMs: number;
  plainHttp: boolean;
  callsPerConnection: number;
  ejection: EjectionRules;
  observer: UpstreamObserver;
};

export type Upstreams = {
  /** The address for a call; for its second attempt not `tried`, if there is another. */
  pick: (tried: UpstreamAddress | null) => UpstreamAddress;
  close: () => Promise<void>;
};

export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const addresses = options.urls.map((url) => openAddress(url, options));
  options.observer.watch(addresses);
  return {
    pick: createAddressChoice(addresses),
    close: async () => {
      await Promise.all(addresses.map(({ pool }) => pool.close()));
    },
  };
}

function openAddress(url: string, options: UpstreamsOptions): UpstreamAddress {
  const { origin, protocol, hostname, port, pathname } = new URL(url);
  const observed = options.observer.address(origin);
  const pool = createHttpPool(origin, {
    connections: options.connections,
    connectionsPerHolder: options.connectionsPerPayer,
    maxWaiting: options.maxWaiting,
    connectTimeoutMs: options.connectTimeoutMs,
    headersTimeoutMs: options.headersTimeoutMs,
    bodyIdleTimeoutMs: options.bodyIdleTimeoutMs,
    keepAliveMs: options.keepAliveMs,
    maxAgeMs: options.connectionMaxAgeMs,
    plainHttp: options.plainHttp,
    maxRequests: options.callsPerConnection,
    onConnected: observed.observeConnect,
  });
  return {
    origin,
    host: hostname,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    path: pathname,
    pool,
    inFlight: 0,
    health: createAddressHealth(options.ejection, observed.onEjected),
    observeHeaders: observed.observeHeaders,
    onFailure: observed.onFailure,
    statesPrices: false,
    onUnpriced: observed.onUnpriced,
  };
}
