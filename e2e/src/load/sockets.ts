import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import type { CloseEvent } from 'ws';
import { WebSocket } from 'ws';

export type SocketTally = {
  /** Sockets that have had a result since they were opened, now. */
  delivering: number;
  /** Results of all subscriptions. */
  results: number;
  /** Points that the results stated. */
  points: number;
  /** Subscriptions that ended with an error, which the client doesn't resume. */
  ended: string[];
  /** Closes of the server's, by code. */
  closes: Record<string, number>;
};

const RETRY_MS = 500;

/** A result that is on its way when the load is stopped was charged and isn't in the tally: at most one a socket. */
export type Sockets = { tally: () => SocketTally; stop: () => SocketTally };

const SUBSCRIPTION = 'subscription { countryOfTheMoment(intervalMs: 1000, times: 3600) { name } }';

/** Clients of graphql-ws with a subscription each, which they resume as the library does by itself. */
export function startSockets(url: string, token: string, count: number): Sockets {
  const tally: SocketTally = { delivering: 0, results: 0, points: 0, ended: [], closes: {} };
  let isOver = false;
  const clients = Array.from({ length: count }, () => {
    let isDelivering = false;
    const client = createClient({
      // A token in `connection_init` would come too late for the bound on sockets without one.
      url: `${url}?token=${token}`,
      webSocketImpl: WebSocket,
      retryAttempts: Infinity,
      // Its default doubles its wait up to minutes.
      retryWait: () => delay(RETRY_MS),
      // Its default gives up when an upgrade is refused.
      shouldRetry: () => true,
      on: {
        closed: (event) => {
          if (isDelivering) tally.delivering -= 1;
          isDelivering = false;
          if (isOver) return;
          const code = String((event as CloseEvent).code);
          tally.closes[code] = (tally.closes[code] ?? 0) + 1;
        },
      },
    });
    client.subscribe<unknown, { points?: number }>(
      { query: SUBSCRIPTION },
      {
        next: ({ extensions }) => {
          if (!isDelivering) tally.delivering += 1;
          isDelivering = true;
          tally.results += 1;
          tally.points += extensions?.points ?? 0;
        },
        error: (error) => tally.ended.push(describe(error)),
        complete: () => {
          if (!isOver) tally.ended.push('complete');
        },
      },
    );
    return client;
  });
  return {
    tally: () => structuredClone(tally),
    stop: () => {
      isOver = true;
      for (const client of clients) void client.dispose();
      return structuredClone(tally);
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}
