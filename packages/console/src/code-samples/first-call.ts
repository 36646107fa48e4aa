import { useQuery } from '@tanstack/react-query';
import { examplesQuery } from '../api/examples.ts';
import { startsSubscription } from './languages/operation.ts';
import type { Operation } from './languages/operation.ts';

/** What samples call the API with: the operator's first example, else what every GraphQL API answers. */
export function useFirstCall(): Operation {
  const { data: examples = [] } = useQuery(examplesQuery);
  const [first] = examples;
  const query = first?.query ?? '{ __typename }';
  return {
    query,
    operationName: null,
    variables: first?.variables,
    isSubscription: startsSubscription(query),
  };
}
