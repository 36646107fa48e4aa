import type { Pool } from 'undici';
import { createHttpPool } from '@tollgate/http/pool';
import { createAddressChoice } from './address-choice.ts';
import { createAddressHealth } from './ejection.ts';
import type { AddressHealth, EjectionRules } from './ejection.ts';
import type { PriceFault } from '../price/price.ts';
import type { FailureKind, UpstreamObserver } from './upstream-metrics.ts';

/** One address of the upstream, with its connections and what is known of it. */
export type UpstreamAddress = {
  /** As metrics and traces name it: scheme, host and port. */
  origin: string;
  host: string;
  port: number;
  /** The endpoint's path there. */
  path: string;
  pool: Pool;
  inFlight: number;
  health: AddressHealth;
  observeHeaders: (seconds: number) => void;
  onFailure: (kind: FailureKind) => void;
  /** Whether any of its answers has stated its price. */
  statesPrices: boolean;
  onUnpriced: (fault: PriceFault) => void;
};

export type UpstreamsOptions = {
  urls: readonly string[];
  /** To each address. */
  connections: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  bodyIdleTimeoutMs: number;
  /** How long an unused connection is kept. */
  keepAliveMs: number;
  /** See @tollgate/http/pool. */
  connectionMaxAgeMs: number;
  ejection: EjectionRules;
  observer: UpstreamObserver;
};

export type Upstreams = {
  /** The address for a call, or for its second attempt: then another one than `tried`, if there is any. */
  pick: (tried: UpstreamAddress | null) => UpstreamAddress;
  close: () => Promise<void>;
};

/** The upstream's addresses, of which each call gets one by createAddressChoice. */
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
    connectTimeoutMs: options.connectTimeoutMs,
    maxAgeMs: options.connectionMaxAgeMs,
    onConnected: observed.observeConnect,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyIdleTimeoutMs,
    keepAliveTimeout: options.keepAliveMs,
    // The upstream's own word (Keep-Alive: timeout=…) may shorten it, not lengthen it.
    keepAliveMaxTimeout: options.keepAliveMs,
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
