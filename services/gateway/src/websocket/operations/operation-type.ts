import { Kind, parse } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';

/** `unknown`: the message has no document that tells the type, as with persisted operations. */
export type OperationType = 'query' | 'mutation' | 'subscription' | 'unknown';

/** More than honest documents have; parsing that many takes a few milliseconds. */
const MAX_TOKENS = 5_000;

/** Unknown if several operations of different types could be meant, because servers choose differently. */
export function operationType({ query, operationName }: Record<string, unknown>): OperationType {
  const operations = typeof query === 'string' ? operationsIn(query) : [];
  const named = operations.filter(({ name }) => name !== undefined && name.value === operationName);
  const types = new Set((named.length > 0 ? named : operations).map(({ operation }) => operation));
  const [type = 'unknown'] = types;
  return types.size === 1 ? type : 'unknown';
}

function operationsIn(text: string): OperationDefinitionNode[] {
  try {
    const { definitions } = parse(text, { noLocation: true, maxTokens: MAX_TOKENS });
    return definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  } catch {
    // No GraphQL, too long, or nested so deep that parsing it overflows the stack.
    return [];
  }
}
