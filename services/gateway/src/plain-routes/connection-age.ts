import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';

/** A method that the types leave out (Node.js, "http", agent.keepSocketAlive). */
type KeepsSockets = { keepSocketAlive: (socket: Duplex) => boolean };

/** Ends idle connections of an agent at that age, others after their request; up to a fifth earlier, at random. */
export function limitConnectionAge(agent: Agent, maxAgeMs: number): void {
  const hooks = agent as unknown as KeepsSockets;
  const keepSocketAlive = hooks.keepSocketAlive.bind(agent);
  const overdue = new WeakSet<Duplex>();
  const aging = new WeakSet<Duplex>();

  const isIdle = (socket: Duplex) =>
    Object.values(agent.freeSockets).some((sockets) => sockets?.some((one) => one === socket));

  function age(socket: Duplex): void {
    aging.add(socket);
    const timer = setTimeout(
      () => {
        overdue.add(socket);
        if (isIdle(socket)) socket.destroy();
      },
      maxAgeMs * (1 - Math.random() / 5),
    );
    timer.unref();
    socket.once('close', () => {
      clearTimeout(timer);
    });
  }

  hooks.keepSocketAlive = (socket) => {
    if (!aging.has(socket)) age(socket);
    return !overdue.has(socket) && keepSocketAlive(socket);
  };
}
