import { TLSSocket } from 'node:tls';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

/** What a process connects to with TLS. */
type Peer = 'upstream' | 'auth' | 'account' | 'postgres';

/** Reads the certificate of a new connection; does nothing for one without TLS. */
export type ObserveCertificate = (socket: unknown) => void;

const gauges = new WeakMap<Registry, Gauge<'peer' | 'address'>>();

/**
 * When the certificates of peers expire, from the last complete handshake with each address. A resumed session presents
 * none, only that of the handshake before.
 */
export function observeCertificates(registry: Registry): (peer: Peer, address: string) => ObserveCertificate {
  const gauge = gauges.get(registry) ?? createGauge(registry);
  gauges.set(registry, gauge);
  return (peer, address) => (socket) => {
    if (!(socket instanceof TLSSocket) || socket.isSessionReused()) return;
    const expiresMs = Date.parse(socket.getPeerCertificate().valid_to);
    if (!Number.isNaN(expiresMs)) gauge.set({ peer, address }, expiresMs / 1_000);
  };
}

function createGauge(registry: Registry): Gauge<'peer' | 'address'> {
  return new Gauge({
    name: 'tollgate_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of a peer expires: upstream, auth, account or postgres; without TLS no sample',
    labelNames: ['peer', 'address'],
    registers: [registry],
  });
}
