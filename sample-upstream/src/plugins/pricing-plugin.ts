import { parse } from 'graphql';
import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { MAX_QUERY_TOKENS } from '../bounds.ts';
import { MINIMUM_POINTS, priceOf } from '../cost.ts';
import type { PricedOperation } from '../cost.ts';

type Execution = {
  args: PricedOperation & { contextValue: { request?: Request } };
  setResultAndStopExecution: (result: ExecutionResult) => void;
};

/** Sets X-Points, and stops operations that are refused. */
export function pricing(): Plugin {
  const points = new WeakMap<Request, number>();
  const price = ({ args, setResultAndStopExecution }: Execution): void => {
    const { points: cost, refusal } = priceOf(args);
    if (args.contextValue.request !== undefined) points.set(args.contextValue.request, cost);
    if (refusal !== undefined) setResultAndStopExecution({ errors: [refusal] });
  };
  return {
    onParse: ({ setParseFn }) => {
      setParseFn(parseBounded);
    },
    onExecute: price,
    onSubscribe: price,
    onResponse: ({ request, response }) => {
      // A body of another type isn't even read.
      const unexecuted = response.status === 415 ? 0 : MINIMUM_POINTS;
      response.headers.set('x-points', String(points.get(request) ?? unexecuted));
    },
  };
}

/** Gives up on documents that no honest caller sends, before validation costs anything. */
export const parseBounded: typeof parse = (source, options) =>
  parse(source, { ...options, maxLexicalTokens: MAX_QUERY_TOKENS });
