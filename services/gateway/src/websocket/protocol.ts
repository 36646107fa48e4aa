/** The two GraphQL subprotocols. They differ in the names of messages and in a few rules. */
export type Protocol = {
  name: 'graphql-transport-ws' | 'graphql-ws';
  /** Message types of a caller that begins or ends an operation, and of the upstream's results. */
  start: 'subscribe' | 'start';
  stop: 'complete' | 'stop';
  result: 'next' | 'data';
  /** Whether callers may start operations before connection_init has been acknowledged. */
  startsEarly: boolean;
  /** Whether ping and pong are messages; the older protocol has `ka`, which only servers send. */
  pings: boolean;
  /** The payload of an error message. */
  errorPayload: (error: object) => unknown;
};

const PROTOCOLS: readonly Protocol[] = [
  {
    name: 'graphql-transport-ws',
    start: 'subscribe',
    stop: 'complete',
    result: 'next',
    startsEarly: false,
    pings: true,
    errorPayload: (error) => [error],
  },
  // subscriptions-transport-ws, whose subprotocol has the name that today's library has.
  {
    name: 'graphql-ws',
    start: 'start',
    stop: 'stop',
    result: 'data',
    startsEarly: true,
    pings: false,
    errorPayload: (error) => error,
  },
];

/** The subprotocol for what a caller offers in Sec-WebSocket-Protocol; the newer one where both are offered. */
export function chosenProtocol(offered: readonly string[]): Protocol | undefined {
  const names = new Set(offered.flatMap((value) => value.split(',').map((name) => name.trim())));
  return PROTOCOLS.find(({ name }) => names.has(name));
}

/** Whether a message of the upstream says something of an operation. */
export function isOfOperation(type: string, { result }: Protocol): boolean {
  return type === result || type === 'complete' || type === 'error';
}
