import type { Operation } from './languages/operation.ts';

/** Every GraphQL API answers this. */
export const FIRST_CALL: Operation = {
  query: '{ __typename }',
  operationName: null,
  variables: undefined,
  isSubscription: false,
};
