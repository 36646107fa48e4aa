import type { Socket } from 'node:net';
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { observeCertificates } from '@tollgate/server/peer-certificates';
import { createHistogram } from '@tollgate/server/tallies';
import type { Observe } from '@tollgate/server/tallies';
import type { PriceFault } from '../price/price.ts';

/** No connection; a lost one, or one that speaks no HTTP; no head in time; or a response broken off (`answer`). */
export type FailureKind = 'connect' | 'connection' | 'headers_timeout' | 'answer';

type AddressObserver = {
  observeConnect: (seconds: number, socket: Socket) => void;
  observeHeaders: Observe;
  onFailure: (kind: FailureKind) => void;
  onEjected: () => void;
  onUnpriced: (fault: PriceFault) => void;
};

export type UpstreamObserver = {
  address: (origin: string) => AddressObserver;
  /** Reads these addresses' state at each scrape. */
  watch: (addresses: readonly Watched[]) => void;
  onRetry: () => void;
};

type Watched = { origin: string; inFlight: number; health: { state: () => string } };

const LABELS = ['api_version', 'address'] as const;
const CONNECT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 3];
const HEADERS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Metrics of the upstream's addresses, for each version of the API. */
export function createUpstreamMetrics(registry: Registry): (apiVersion: string) => UpstreamObserver {
  const registers = [registry];
  const connect = createHistogram(registry, {
    name: 'tollgate_upstream_connect_duration_seconds',
    help: 'Time until a new connection to an address of the upstream stood',
    labelNames: LABELS,
    buckets: CONNECT_BUCKETS,
  });
  const headers = createHistogram(registry, {
    name: 'tollgate_upstream_headers_duration_seconds',
    help: "Time from handing a call to an address of the upstream until its response's head",
    labelNames: LABELS,
    buckets: HEADERS_BUCKETS,
  });
  const failures = new Counter({
    name: 'tollgate_upstream_failures_total',
    help: 'Exchanges that failed by kind: connect, connection (lost), headers_timeout, answer (broken off)',
    labelNames: [...LABELS, 'kind'],
    registers,
  });
  const ejections = new Counter({
    name: 'tollgate_upstream_ejections_total',
    help: 'How often an address was taken out because its calls failed',
    labelNames: LABELS,
    registers,
  });
  const retries = new Counter({
    name: 'tollgate_upstream_retries_total',
    help: 'Second attempts of calls of which nothing had been sent',
    labelNames: ['api_version'],
    registers,
  });
  const unpriced = new Counter({
    name: 'tollgate_unpriced_answers_total',
    help: 'Answers without a price that can be read, by reason: missing, repeated, unreadable',
    labelNames: [...LABELS, 'reason'],
    registers,
  });
  const watched = watch(registers);
  const certificateOf = observeCertificates(registry);

  return (apiVersion) => ({
    address: (origin) => {
      const labels = { api_version: apiVersion, address: origin };
      const observeDuration = connect(labels);
      const observeCertificate = certificateOf('upstream', origin);
      return {
        observeConnect: (seconds, socket) => {
          observeDuration(seconds);
          observeCertificate(socket);
        },
        observeHeaders: headers(labels),
        onFailure: (kind) => {
          failures.inc({ ...labels, kind });
        },
        onEjected: () => {
          ejections.inc(labels);
        },
        onUnpriced: (reason) => {
          unpriced.inc({ ...labels, reason });
        },
      };
    },
    watch: (addresses) => {
      watched.push({ apiVersion, addresses });
    },
    onRetry: () => {
      retries.inc({ api_version: apiVersion });
    },
  });
}

/** Returns the list of addresses that its gauges read. */
function watch(registers: Registry[]): { apiVersion: string; addresses: readonly Watched[] }[] {
  const watched: ReturnType<typeof watch> = [];
  const gauge = (name: string, help: string, read: (address: Watched) => number) =>
    new Gauge({
      name,
      help,
      labelNames: LABELS,
      registers,
      collect() {
        for (const { apiVersion, addresses } of watched) {
          for (const address of addresses) {
            this.set({ api_version: apiVersion, address: address.origin }, read(address));
          }
        }
      },
    });
  gauge('tollgate_upstream_healthy', '1 where an address gets calls, 0 while it is ejected', ({ health }) =>
    health.state() === 'healthy' ? 1 : 0,
  );
  gauge('tollgate_upstream_in_flight', 'Calls under way to an address', ({ inFlight }) => inFlight);
  return watched;
}
