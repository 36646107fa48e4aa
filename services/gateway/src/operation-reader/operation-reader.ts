import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Problem } from '@tollgate/http/problem';
import { asOperation } from './batch-index.ts';
import type { CountedOperation } from './counted-operation.ts';
import { UNKNOWN_OPERATION, createReadDocument } from './document-types.ts';
import type { OperationType, ReadOperation } from './document-types.ts';
import type { Guards } from './guards.ts';
import { isObject } from './json.ts';
import { hasGuards } from './parse-guarded.ts';
import { STORED_DOCUMENT_NAMES, folded } from './protocol-names.ts';

/**
 * What a request asks for, as far as the gateway reads it (docs/design/admission.md). Its price without a stated one,
 * its kind of slot and its units of the rate follow from this alone, never from Accept or from the form of the
 * response:
 *
 * | type                | slot          | without a stated price                             |
 * | ------------------- | ------------- | -------------------------------------------------- |
 * | query, mutation     | session       | DEFAULT_POINTS per operation and per result        |
 * | subscription        | subscription  | by the minute                                      |
 * | unknown             | session       | DEFAULT_POINTS per result; by the minute on top if |
 * |                     |               | the response is a subscription's stream            |
 *
 * A batch counts one unit of the rate for each operation, and a list of variables is a batch.
 */
export type Operations = {
  /** A batch has no subscription; if one operation of it is unknown, so is the type. */
  type: OperationType;
  /** Above 0. */
  count: number;
  isBatch: boolean;
  /** As the request states it; null in a batch. */
  operationName: unknown;
  /** What usage is counted by; null if it isn't known, or a batch has several. */
  counted: CountedOperation | null;
  /**
   * What they cost at most by a schema, once that was asked: a body that repeats has the same operations. A map of them
   * would cost more than the rest of an estimate.
   */
  estimated: { schema: object; estimate: { points: number; isBounded: boolean } | null } | null;
};

/** One operation as it is sent. */
export type OperationRequest = {
  /** Null if a server could run another document. */
  text: string | null;
  operationName: unknown;
  variables: unknown;
};

/** What a request over HTTP asks for, and each operation of it as it was sent. */
export type ReadRequest = { operations: Operations; requests: readonly OperationRequest[] };

export type OperationReader = {
  batchLimit: number;
  /** Before anything of a list is looked at. @throws {Problem} batch_too_large */
  assertLength: (request: unknown) => void;
  /** Of the parsed body of a request over HTTP. @throws {Problem} invalid_request, batch_too_large, and of its documents */
  read: (request: unknown) => ReadRequest;
  /** The same, but the documents of a batch have a turn of the event loop each, so that long ones hold no others up. */
  readInTurns: (request: unknown) => Promise<ReadRequest>;
  /**
   * Of one operation, over HTTP or WebSocket.
   * @throws {Problem} invalid_request, document_too_large, document_unknown, document_invalid, and the codes of the guards
   */
  readOne: (request: Record<string, unknown>) => ReadOperation;
};

export type OperationReaderLimits = {
  maxDocumentBytes: number;
  guards: Guards;
  /** Operations of one request; 0 refuses lists. */
  batchLimit: number;
  /** Of the texts whose types are remembered. Default: 8 Mi characters. */
  rememberedMaxLength?: number;
};

export function createOperationReader({
  maxDocumentBytes,
  guards,
  batchLimit,
  rememberedMaxLength,
}: OperationReaderLimits): OperationReader {
  const readDocument = createReadDocument(guards, rememberedMaxLength);
  const isGuarded = hasGuards(guards);

  function readOne(request: Record<string, unknown>): ReadOperation {
    const { query, operationName, extensions } = request;
    // Some servers parse a text.
    if (!isObject(extensions ?? {})) throw invalid('`extensions` must be an object.');
    // Some clients send an empty text with the name of a stored document.
    if (typeof query !== 'string' || query === '') {
      // What it names could be beyond the guards.
      if (isGuarded && namesStored(request)) throw new Problem('document_unknown');
      return UNKNOWN_OPERATION;
    }
    // A server could run that one rather than what is read here.
    if (namesStored(request))
      throw invalid('A request must not have both `query` and the name of a stored document.');
    assertDocumentLength(query, maxDocumentBytes);
    const operation = readDocument(query, operationName);
    return mayRunAnother(request, query) ? UNKNOWN_OPERATION : operation;
  }

  function assertLength(request: unknown): void {
    if (Array.isArray(request) && request.length > batchLimit) throw tooMany();
  }

  function tooMany(): Problem {
    return new Problem('batch_too_large', {
      detail:
        batchLimit === 0
          ? 'Send one operation per request; batches are not accepted.'
          : `A batch may have ${String(batchLimit)} operations.`,
      extensions: { limit: batchLimit },
    });
  }

  /** @throws {Problem} invalid_request, batch_too_large */
  function batched(sent: readonly unknown[]): OperationRequest[] {
    const requests = operationRequests(sent, batchLimit);
    if (batchLimit > 0 && requests.length === 0) throw invalid('A batch must have at least one operation.');
    if (Math.max(sent.length, requests.length) > batchLimit || batchLimit === 0) throw tooMany();
    return requests;
  }

  function batchOf(requests: readonly OperationRequest[], operations: readonly ReadOperation[]): ReadRequest {
    const types = new Set(operations.map(({ type }) => type));
    if (types.has('subscription')) throw invalid('A batch must not contain a subscription.');
    const type = types.has('unknown') ? 'unknown' : types.has('mutation') ? 'mutation' : 'query';
    const [counted = null, another] = new Set(operations.map((operation) => operation.counted));
    return {
      operations: {
        type,
        count: requests.length,
        isBatch: true,
        operationName: null,
        counted: another === undefined ? counted : null,
        estimated: null,
      },
      requests,
    };
  }

  /** The requests of a batch; null for a single one. */
  function listOf(request: unknown): readonly unknown[] | null {
    if (Array.isArray(request)) return request as readonly unknown[];
    return Array.isArray(variablesOf(asObject(request))) ? [request] : null;
  }

  function readItem(list: readonly unknown[], item: unknown, index: number): ReadOperation {
    return asOperation(operationIndex(list, index), () => readOne(asObject(item)));
  }

  function read(request: unknown): ReadRequest {
    const list = listOf(request);
    if (list !== null) {
      const requests = batched(list);
      return batchOf(
        requests,
        list.map((each, index) => readItem(list, each, index)),
      );
    }
    const single = asObject(request);
    const { type, counted } = readOne(single);
    return {
      operations: {
        type,
        count: 1,
        isBatch: false,
        operationName: single['operationName'],
        counted,
        estimated: null,
      },
      requests: [operationRequest(single)],
    };
  }

  return {
    batchLimit,
    assertLength,
    readOne,
    read,
    readInTurns: async (request) => {
      const list = listOf(request);
      if (list === null) return read(request);
      const requests = batched(list);
      const operations: ReadOperation[] = [];
      for (const [index, each] of list.entries()) {
        operations.push(readItem(list, each, index));
        await setImmediate();
      }
      return batchOf(requests, operations);
    },
  };
}

/** Parsing comments and strings takes time, too. @throws {Problem} document_too_large */
export function assertDocumentLength(text: string, maxBytes: number): void {
  if (Buffer.byteLength(text) <= maxBytes) return;
  throw new Problem('document_too_large', {
    detail: `A GraphQL document may have ${String(maxBytes)} bytes.`,
    extensions: { limit: maxBytes },
  });
}

/**
 * The operations of a request, or of a list of them: one for each of its variables if they are a list, as servers with
 * variable batching run it. Of what is beyond `batchLimit`, enough to be refused. @throws {Problem} invalid_request
 */
export function operationRequests(request: unknown, batchLimit: number): OperationRequest[] {
  const list: readonly unknown[] = Array.isArray(request) ? request.slice(0, batchLimit + 1) : [request];
  return list.flatMap((each) => {
    const operation = operationRequest(asObject(each));
    const { variables } = operation;
    if (!Array.isArray(variables)) return [operation];
    return variables.slice(0, batchLimit + 1).map((one: unknown) => ({ ...operation, variables: one }));
  });
}

/** Which operation of a batch the first one of an item is, since an item with a list of variables is several. */
export function operationIndex(list: readonly unknown[], index: number): number {
  return list.slice(0, index).reduce((sum: number, item) => {
    const variables = isObject(item) ? variablesOf(item) : undefined;
    return sum + (Array.isArray(variables) ? variables.length : 1);
  }, 0);
}

export function operationRequest(request: Record<string, unknown>): OperationRequest {
  const { query, operationName } = request;
  const isKnown = typeof query === 'string' && !mayRunAnother(request, query);
  return { text: isKnown ? query : null, operationName, variables: variablesOf(request) };
}

/** An empty list is none: PHP writes an empty object so. */
function variablesOf({ variables }: Record<string, unknown>): unknown {
  return Array.isArray(variables) && variables.length === 0 ? {} : variables;
}

/** Whether a server could run a document that it knows by a hash, rather than the text beside which it is sent. */
function mayRunAnother(request: Record<string, unknown>, text: string): boolean {
  const { extensions } = request;
  if (!isObject(extensions)) return false;
  const names = Object.keys(extensions).filter((name) => folded(name) === PERSISTED_QUERY);
  // Automatic persisted queries: a client that registers its document sends both.
  return names.some((name) => !isHashOf(extensions[name], text));
}

/** Whether a request names a stored document, other than by `extensions.persistedQuery`. */
export function namesStored(request: Record<string, unknown>): boolean {
  if (isPlain(request)) return false;
  if (STORED_DOCUMENT_NAMES.some((name) => isNamed(request[name]))) return true;
  const { extensions } = request;
  if (!isObject(extensions)) return false;
  return Object.entries(extensions).some(([name, value]) => FOLDED_NAMES.has(folded(name)) && isNamed(value));
}

/** Whether a request has no member but those that nearly all have alone: no name of a document, and no extensions. */
export function isPlain(request: Record<string, unknown>): boolean {
  for (const name in request)
    if (name !== 'query' && name !== 'variables' && name !== 'operationName') return false;
  return true;
}

const FOLDED_NAMES = new Set(STORED_DOCUMENT_NAMES.map(folded));

function isNamed(id: unknown): boolean {
  return id !== undefined && id !== null;
}

const PERSISTED_QUERY = folded('persistedQuery');

function isHashOf(persisted: unknown, text: string): boolean {
  return isObject(persisted) && persisted['sha256Hash'] === hash('sha256', text);
}

function asObject(request: unknown): Record<string, unknown> {
  if (isObject(request)) return request;
  throw invalid('A request must be a JSON object with its operation, or a list of such objects.');
}

function invalid(detail: string): Problem {
  return new Problem('invalid_request', { detail });
}
