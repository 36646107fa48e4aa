import { Kind, parse } from 'graphql';
import { LRUCache } from 'lru-cache';

/** `unknown`: nothing that was sent tells the type, as with persisted documents. */
export type OperationType = 'query' | 'mutation' | 'subscription' | 'unknown';

/** More than honest documents have; parsing that many takes a few milliseconds. */
const MAX_TOKENS = 5_000;

/** Clients repeat their documents, and parsing one costs as much as a good part of the rest of its call. */
const REMEMBERED_MAX_LENGTH = 8_388_608;
const REMEMBERED_DOCUMENT_MAX_LENGTH = 16_384;

type DefinedOperation = { type: Exclude<OperationType, 'unknown'>; name: string | undefined };

/** The type of the operation that a server would run of a document. */
export type DocumentType = (text: string, operationName: unknown) => OperationType;

export function createDocumentType(): DocumentType {
  const remembered = new LRUCache<string, readonly DefinedOperation[]>({
    maxSize: REMEMBERED_MAX_LENGTH,
    maxEntrySize: REMEMBERED_DOCUMENT_MAX_LENGTH,
    sizeCalculation: (_operations, text) => Math.max(text.length, 1),
  });

  function operationsIn(text: string): readonly DefinedOperation[] {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const operations = parseOperations(text);
    remembered.set(text, operations);
    return operations;
  }

  // Unknown if several operations of different types could be meant, because servers choose differently.
  return (text, operationName) => {
    const operations = operationsIn(text);
    const [first] = operations;
    if (operations.length === 1 && first !== undefined) return first.type;
    const named = operations.filter(({ name }) => name !== undefined && name === operationName);
    const types = new Set((named.length > 0 ? named : operations).map(({ type }) => type));
    const [type = 'unknown'] = types;
    return types.size === 1 ? type : 'unknown';
  };
}

function parseOperations(text: string): DefinedOperation[] {
  try {
    const { definitions } = parse(text, { noLocation: true, maxTokens: MAX_TOKENS });
    return definitions
      .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
      .map(({ operation, name }) => ({ type: operation, name: name?.value }));
  } catch {
    // No GraphQL, too long, or nested so deep that parsing it overflows the stack.
    return [];
  }
}
