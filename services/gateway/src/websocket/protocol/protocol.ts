export type Protocol = {
  name: 'graphql-transport-ws' | 'graphql-ws';
  start: 'subscribe' | 'start';
  stop: 'complete' | 'stop';
  result: 'next' | 'data';
  /** Whether callers may start operations before connection_init has been acknowledged. */
  startsEarly: boolean;
  /** Whether ping and pong are messages; the older protocol has `ka`, which only servers send. */
  pings: boolean;
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
  // The protocol of subscriptions-transport-ws; today's library graphql-ws speaks the other one.
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

/** Chooses from Sec-WebSocket-Protocol; the newer protocol if both are offered. */
export function chosenProtocol(offered: readonly string[]): Protocol | undefined {
  const names = new Set(offered.flatMap((value) => value.split(',').map((name) => name.trim())));
  return PROTOCOLS.find(({ name }) => names.has(name));
}

export function isOfOperation(type: string, { result }: Protocol): boolean {
  return type === result || type === 'complete' || type === 'error';
}
