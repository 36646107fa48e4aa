import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { ServiceProcess } from '@tollgate/testbed/service-process';

export type LoadBalancer = {
  port: number;
  /** Adds a backend, which gets connections while it is ready. */
  add: (backend: ServiceProcess) => void;
  /** Connections that arrived while no backend was ready. */
  turnedAway: () => number;
  close: () => Promise<void>;
};

const PROBE_INTERVAL_MS = 50;

/** A TCP load balancer like a Kubernetes service: new connections go to ready backends, open ones stay. */
export async function startLoadBalancer(): Promise<LoadBalancer> {
  const backends = new Map<ServiceProcess, boolean>();
  const sockets = new Set<Socket>();
  let turn = 0;
  let turnedAway = 0;
  const probe = setInterval(() => {
    for (const backend of backends.keys()) {
      void isReady(backend).then((ready) => backends.set(backend, ready));
    }
  }, PROBE_INTERVAL_MS);
  const server = createServer((caller) => {
    const ready = [...backends].filter(([, isReadyNow]) => isReadyNow).map(([backend]) => backend);
    turn += 1;
    const chosen = ready[turn % ready.length];
    if (chosen === undefined) {
      turnedAway += 1;
      caller.destroy();
      return;
    }
    const backend = connect(Number(new URL(chosen.publicUrl).port), '127.0.0.1');
    for (const [one, other] of [
      [caller, backend],
      [backend, caller],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).once('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    add: (backend) => {
      backends.set(backend, true);
    },
    turnedAway: () => turnedAway,
    close: () =>
      new Promise((resolve) => {
        clearInterval(probe);
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function isReady({ privateUrl }: ServiceProcess): Promise<boolean> {
  return fetch(`${privateUrl}/health/ready`).then(
    (response) => response.ok,
    () => false,
  );
}
