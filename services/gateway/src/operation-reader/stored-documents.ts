import { hash } from 'node:crypto';
import type { Manifest } from '@tollgate/contracts/documents-manifest';
import { Problem } from '@tollgate/http/problem';
import { isObject } from './json.ts';
import type { LearnedTexts } from './learned-texts.ts';
import { STORED_DOCUMENT_NAMES, folded } from './protocol-names.ts';
import { asOperation } from './batch-index.ts';
import { isPlain, namesStored, operationIndex } from './operation-reader.ts';
import type { OperationRequest } from './operation-reader.ts';
import type { TrustedTexts } from './trusted-texts.ts';

/** A request in which texts stand where documents were named, as far as they are known. */
export type WithTexts = {
  /** The request itself if no text was put into it. */
  request: unknown;
  /** The texts, for `putTexts`; null if there are none. */
  found: FoundTexts | null;
  /** Of the texts that were put in. */
  textBytes: number;
  /** Whether it names a document, so that the same bytes could be read otherwise later, or for another payer. */
  namesDocument: boolean;
};

/** Documents that requests name by an id or a hash (docs/design/admission.md). */
export type StoredDocuments = {
  /**
   * Of the parsed body of a request, or a list of them; registers what is sent with its hash.
   * @throws {Problem} PERSISTED_QUERY_NOT_FOUND, persisted_query_mismatch, invalid_request
   */
  withTexts: (request: unknown, payerId: number) => WithTexts;
  /**
   * Why an operation may not run where only registered documents do: document_not_trusted, or service_unavailable
   * while none is known. Null if it may; null itself where all documents run.
   */
  whyUntrusted: ((request: Pick<OperationRequest, 'text'>) => Problem | null) | null;
};

export type StoredDocumentsOptions = {
  /** `pass`: automatic persisted queries are the upstream's alone. */
  apq: 'learn' | 'pass';
  learned: LearnedTexts;
  /** The text that an id names. */
  textOf: (id: string) => ReturnType<Manifest['get']>;
  /** An operation must be among all of these; null while they aren't known. None: all documents run. */
  trusting: readonly (() => TrustedTexts | null)[];
};

const PERSISTED_QUERY = 'persistedQuery';

export function createStoredDocuments({
  apq,
  learned,
  textOf,
  trusting,
}: StoredDocumentsOptions): StoredDocuments {
  function foundByHash(request: Record<string, unknown>, payerId: number): Found | null {
    const { query, extensions } = request;
    const sha256 = persistedHash(extensions);
    if (sha256 === null) return null;
    if (hasText(query)) {
      if (sha256 !== hash('sha256', query)) throw new Problem('persisted_query_mismatch');
      learned.set(payerId, sha256, query);
      return null;
    }
    // An upstream could run what it has stored under an id that we don't know, rather than the text of the hash.
    if (namesStored(request)) return null;
    const registered = learned.get(payerId, sha256);
    if (registered !== undefined) return { text: registered, replaces: null };
    // Apollo's clients send ids of a manifest as if they were hashes. Servers that compare them would refuse others.
    const text = textOf(sha256);
    if (text === undefined) throw new Problem('PERSISTED_QUERY_NOT_FOUND');
    return { text, replaces: sha256 === hash('sha256', text) ? null : PERSISTED_QUERY };
  }

  function foundById(request: Record<string, unknown>): Found | null {
    if (hasText(request['query'])) return null;
    const [name, another] = STORED_DOCUMENT_NAMES.filter((each) => (request[each] ?? null) !== null);
    if (name === undefined || another !== undefined) return null;
    const id = request[name];
    const text = typeof id === 'string' ? textOf(id) : undefined;
    // The upstream runs the text that was read, not what it may have stored under the id.
    return text === undefined ? null : { text, replaces: name };
  }

  function found(request: unknown, payerId: number): Found | null {
    if (!isObject(request)) return null;
    const byId = foundById(request);
    if (apq === 'pass') return byId;
    return foundByHash(byId === null ? request : withText(request, byId), payerId) ?? byId;
  }

  function whyUntrusted({ text }: Pick<OperationRequest, 'text'>): Problem | null {
    const all = trusting.map((trusted) => trusted());
    if (all.includes(null)) return new Problem('service_unavailable');
    if (text === null) return new Problem('document_not_trusted');
    if (all.every((trusted) => trusted?.has(text))) return null;
    return new Problem('document_not_trusted', { extensions: { sha256: hash('sha256', text) } });
  }

  return {
    whyUntrusted: trusting.length > 0 ? whyUntrusted : null,
    withTexts: (request, payerId) => {
      if (isObject(request) && isPlain(request))
        return { request, found: null, textBytes: 0, namesDocument: false };
      const requests: readonly unknown[] = Array.isArray(request) ? request : [request];
      const texts = Array.isArray(request)
        ? requests.map((each, index) =>
            asOperation(operationIndex(requests, index), () => found(each, payerId)),
          )
        : [found(request, payerId)];
      const textBytes = texts.reduce((sum, each) => sum + Buffer.byteLength(each?.text ?? ''), 0);
      const namesAny = requests.some(namesDocument);
      if (textBytes === 0) return { request, found: null, textBytes, namesDocument: namesAny };
      return { request: putTexts(request, texts), found: texts, textBytes, namesDocument: namesAny };
    },
  };
}

/** The text of a document, and the name that it replaces; null if the name stays beside it. */
type Found = { text: string; replaces: string | null };

/** Of each request of a list; null for one that has its own text, or none. */
export type FoundTexts = readonly (Found | null)[];

/** Into the request that they were found for, as it was parsed once more. */
export function putTexts(request: unknown, found: FoundTexts): unknown {
  const put = (each: unknown, index: number) => {
    const text = found[index];
    return text && isObject(each) ? withText(each, text) : each;
  };
  return Array.isArray(request) ? request.map(put) : put(request, 0);
}

/** Into one request. */
export function withText(
  request: Record<string, unknown>,
  { text, replaces }: Found,
): Record<string, unknown> {
  const { extensions } = request;
  if (replaces === null) return { ...request, query: text };
  if (replaces !== PERSISTED_QUERY || !isObject(extensions))
    return { ...without(request, replaces), query: text };
  const others = without(extensions, PERSISTED_QUERY);
  return Object.keys(others).length === 0
    ? { ...without(request, 'extensions'), query: text }
    : { ...request, extensions: others, query: text };
}

function without(members: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([each]) => each !== name));
}

function hasText(query: unknown): query is string {
  return typeof query === 'string' && query !== '';
}

function namesDocument(request: unknown): boolean {
  if (!isObject(request)) return false;
  if (namesStored(request)) return true;
  const { extensions } = request;
  return isObject(extensions) && PERSISTED_QUERY in extensions;
}

/** Null without one. @throws {Problem} invalid_request */
function persistedHash(extensions: unknown): string | null {
  if (!isObject(extensions)) return null;
  const names = Object.keys(extensions).filter((name) => folded(name) === folded(PERSISTED_QUERY));
  if (names.length === 0) return null;
  const persisted = extensions[PERSISTED_QUERY];
  if (names.length === 1 && persisted === null) return null;
  const sha256 = isObject(persisted) ? persisted['sha256Hash'] : undefined;
  if (names.length > 1 || typeof sha256 !== 'string')
    throw invalid('`extensions.persistedQuery` must be an object with `sha256Hash`.');
  return sha256;
}

function invalid(detail: string): Problem {
  return new Problem('invalid_request', { detail });
}
