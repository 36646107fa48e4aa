import type { Agent } from 'node:http';

/**
 * Ends connections of an agent that aren't established in time. Where a network drops packets, as a Kubernetes
 * NetworkPolicy does for a Service without pods, a connection is never refused.
 */
export function limitConnectTime(agent: Agent, timeoutMs: number): void {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = createConnection(options, callback);
    const timer = setTimeout(() => {
      socket?.destroy(new Error(`not connected within ${String(timeoutMs)} ms`));
    }, timeoutMs);
    const stop = () => {
      clearTimeout(timer);
    };
    socket?.once('connect', stop).once('close', stop);
    return socket;
  };
}
