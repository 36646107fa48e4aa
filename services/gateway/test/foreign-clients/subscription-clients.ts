import { ApolloClient, InMemoryCache, gql } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, CombinedError, fetchExchange, subscriptionExchange } from '@urql/core';
import type { OperationResult } from '@urql/core';
import { createClient } from 'graphql-ws';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';

/** Third-party clients of GraphQL subscriptions. */
export type SubscriptionClientUnderTest = {
  name: string;
  /** The data of each result until the subscription is complete; throws what the client reports. */
  subscribe: (url: string, token: string, query: string) => Promise<unknown[]>;
};

/** A GraphQL error's code, however clients wrap it. */
export function subscriptionErrorCode(error: unknown): unknown {
  const first: unknown = firstOf(error);
  return (first as { extensions?: { code?: unknown } } | undefined)?.extensions?.code;
}

function firstOf(error: unknown): unknown {
  if (Array.isArray(error)) return error[0];
  if (error instanceof CombinedGraphQLErrors) return error.errors[0];
  if (error instanceof CombinedError) return error.graphQLErrors[0];
  return error;
}

const wsClient = (url: string, token: string) =>
  createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { Authorization: `Bearer ${token}` },
  });

const graphqlWs: SubscriptionClientUnderTest = {
  name: 'graphql-ws',
  subscribe: async (url, token, query) => {
    const client = wsClient(url, token);
    const seen: unknown[] = [];
    try {
      for await (const { data, errors } of client.iterate({ query })) {
        if (errors !== undefined) throw new Error('a result with errors', { cause: errors });
        seen.push(data);
      }
    } finally {
      await client.dispose();
    }
    return seen;
  },
};

const transportWs: SubscriptionClientUnderTest = {
  name: 'subscriptions-transport-ws',
  subscribe: async (url, token, query) => {
    const connectionParams = { Authorization: `Bearer ${token}` };
    const client = new SubscriptionClient(
      url.replace('http', 'ws'),
      { reconnect: false, connectionParams },
      WebSocket,
    );
    try {
      return await collected((observer) => {
        // Without reconnecting, it doesn't report a closed connection to its subscriptions.
        client.onDisconnected(() => {
          observer.error(new Error('disconnected'));
        });
        client.request({ query }).subscribe({
          ...observer,
          next: ({ data, errors }) => {
            if (errors === undefined) observer.next(data);
            else observer.error(errors);
          },
        });
      });
    } finally {
      client.close();
    }
  },
};

const apollo: SubscriptionClientUnderTest = {
  name: '@apollo/client',
  subscribe: async (url, token, query) => {
    const socket = wsClient(url, token);
    const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
    try {
      return await collected((observer) =>
        client.subscribe({ query: gql(query) }).subscribe({
          ...observer,
          next: ({ data, error }) => {
            if (error === undefined) observer.next(data);
            else observer.error(error);
          },
        }),
      );
    } finally {
      client.stop();
      await socket.dispose();
    }
  },
};

const urql: SubscriptionClientUnderTest = {
  name: 'urql over graphql-ws',
  subscribe: async (url, token, query) => {
    const socket = wsClient(url, token);
    const exchange = subscriptionExchange({
      forwardSubscription: ({ query: text = '', variables }) => ({
        subscribe: (sink) => ({
          unsubscribe: socket.subscribe(
            { query: text, variables: { ...variables } },
            {
              next: ({ data = null, errors }) => {
                sink.next(errors === undefined ? { data } : { data, errors });
              },
              error: sink.error.bind(sink),
              complete: sink.complete.bind(sink),
            },
          ),
        }),
      }),
    });
    try {
      return await urqlResults(new Client({ url, exchanges: [exchange], preferGetMethod: false }), query);
    } finally {
      await socket.dispose();
    }
  },
};

const urqlEvents: SubscriptionClientUnderTest = {
  name: 'urql over server-sent events',
  subscribe: (url, token, query) =>
    urqlResults(
      new Client({
        url,
        exchanges: [fetchExchange],
        fetchSubscriptions: true,
        fetchOptions: { headers: { authorization: `Bearer ${token}` } },
        preferGetMethod: false,
      }),
      query,
    ),
};

async function urqlResults(client: Client, query: string): Promise<unknown[]> {
  return collected((observer) => {
    const take = ({ data, error, hasNext }: OperationResult<unknown>) => {
      if (error !== undefined) observer.error(error);
      // When no result follows, the last one is repeated.
      else if (hasNext) observer.next(data);
      else observer.complete();
    };
    client.subscription<unknown>(query, {}).subscribe(take);
  });
}

type Observer = { next: (data: unknown) => void; error: (error: unknown) => void; complete: () => void };

function collected(subscribe: (observer: Observer) => unknown): Promise<unknown[]> {
  const seen: unknown[] = [];
  return new Promise((resolve, reject) => {
    subscribe({
      next: (data) => {
        seen.push(data);
      },
      error: reject,
      complete: () => {
        resolve(seen);
      },
    });
  });
}

export const SUBSCRIPTION_CLIENTS: readonly SubscriptionClientUnderTest[] = [
  graphqlWs,
  transportWs,
  apollo,
  urql,
  urqlEvents,
];
