import { Kind, parse } from 'graphql';
import type { DocumentNode } from 'graphql';
import { Problem } from '@tollgate/http/problem';
import { countedName, createCountedDocuments } from './counted-operation.ts';
import type { CountedDocument, CountedOperation } from './counted-operation.ts';
import type { Guards } from './guards.ts';
import { hasGuards, parseGuarded } from './parse-guarded.ts';
import { createTextCache } from './text-cache.ts';

/** `unknown`: nothing that was sent tells the type, as with persisted documents. */
export type OperationType = 'query' | 'mutation' | 'subscription' | 'unknown';

/** Read without guards. More than honest documents have; parsing that many takes a few milliseconds. */
const MAX_TOKENS = 5_000;

/** Clients repeat their documents, and parsing one costs as much as a good part of the rest of its call. */
const REMEMBERED_MAX_LENGTH = 8_388_608;

/** `counted` is null if it isn't known which operation is run. */
export type ReadOperation = { type: OperationType; counted: CountedOperation | null };

type DefinedOperation = {
  type: Exclude<OperationType, 'unknown'>;
  name: string | undefined;
  counted: CountedOperation;
};

/** What is remembered of a text: its operations, or why it is refused. */
type KnownDocument = readonly DefinedOperation[] | Problem;

/**
 * The operation that a server would run of a document.
 * @throws {Problem} document_invalid, and the codes of the guards, if there are any
 */
export type ReadDocument = (text: string, operationName: unknown) => ReadOperation;

export const UNKNOWN_OPERATION: ReadOperation = { type: 'unknown', counted: null };

export function createReadDocument(
  guards: Guards,
  rememberedMaxLength = REMEMBERED_MAX_LENGTH,
): ReadDocument {
  const read = hasGuards(guards) ? (text: string) => parseGuarded(text, guards) : parseIfPossible;
  const countedDocument = createCountedDocuments(rememberedMaxLength / 4);
  const remembered = createTextCache<KnownDocument>(rememberedMaxLength);

  function operationsIn(text: string): readonly DefinedOperation[] {
    const known = remembered.of(text, () => knownOf(() => read(text), countedDocument));
    if (known instanceof Problem) throw known;
    return known;
  }

  // Unknown if several operations of different types could be meant, because servers choose differently.
  return (text, operationName) => {
    const operations = operationsIn(text);
    const [first] = operations;
    if (operations.length === 1 && first !== undefined) return first;
    const named = operations.filter(({ name }) => name !== undefined && name === operationName);
    const [only, another] = named;
    if (only !== undefined && another === undefined) return only;
    const types = new Set((named.length > 0 ? named : operations).map(({ type }) => type));
    const [type = 'unknown'] = types;
    return types.size === 1 ? { type, counted: null } : UNKNOWN_OPERATION;
  };
}

function knownOf(
  read: () => DocumentNode | null,
  countedDocument: (document: DocumentNode) => CountedDocument,
): KnownDocument {
  try {
    const node = read();
    if (node === null) return [];
    const document = countedDocument(node);
    return node.definitions
      .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
      .map((operation) => ({
        type: operation.operation,
        name: operation.name?.value,
        counted: { document, name: countedName(operation) },
      }));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function parseIfPossible(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true, maxLexicalTokens: MAX_TOKENS });
  } catch {
    // No GraphQL, too long, or nested so deep that parsing it overflows the stack.
    return null;
  }
}
