import type { GraphiQLProvider } from '@graphiql/react';
import { OperationTypeNode, getOperationAST } from 'graphql';
import type { DocumentNode } from 'graphql';
import type { ComponentProps } from 'react';
import { post } from './requests.ts';
import type { GraphqlParams, TokenSource } from './requests.ts';
import { failureOf } from './failure.ts';
import type { Report } from './report.ts';
import { latestMessages } from './latest-messages.ts';
import { subscribe } from './subscribe.ts';

type Observer = { next: (result: never) => void; complete: () => void };

type Fetcher = ComponentProps<typeof GraphiQLProvider>['fetcher'];

type FetcherOptions = {
  dataUrl: string;
  token: TokenSource;
  onStart: (params: GraphqlParams) => void;
  onReport: (report: Report) => void;
};

/** What GraphiQL runs operations with: subscriptions over WebSocket, everything else by POST; both can be stopped. */
export function createFetcher({ dataUrl, token, onStart, onReport }: FetcherOptions): Fetcher {
  const run = (params: GraphqlParams, { documentAST }: { documentAST?: DocumentNode } = {}) => ({
    subscribe: (observer: Observer) => {
      onStart(params);
      const operation = documentAST && getOperationAST(documentAST, params.operationName);
      const next = (result: unknown) => {
        observer.next(result as never);
      };
      if (operation?.operation === OperationTypeNode.SUBSCRIPTION) {
        const messages = latestMessages();
        const unsubscribe = subscribe(
          params,
          { dataUrl, token },
          {
            onResult: (result) => {
              next(messages.with(result));
            },
            onReport,
            onEnd: (errors) => {
              if (errors !== null) next({ errors, ...messages.all() });
              observer.complete();
            },
          },
        );
        return { unsubscribe };
      }
      const abort = new AbortController();
      post(params, { dataUrl, token, signal: abort.signal }).then(
        ({ result, report }) => {
          onReport(report);
          next(result);
          observer.complete();
        },
        (error: unknown) => {
          if (abort.signal.aborted) return;
          const failure = failureOf(error);
          onReport(failure.report);
          next({ errors: [{ message: failure.message }] });
          observer.complete();
        },
      );
      return {
        unsubscribe: () => {
          abort.abort();
        },
      };
    },
  });
  // Of an observable's three ways to subscribe, GraphiQL uses this one.
  return run as unknown as Fetcher;
}
