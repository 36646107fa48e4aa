import { hash } from 'node:crypto';
import { Problem } from '@tollgate/http/problem';
import type { ManifestSource } from './documents-manifest.ts';
import { isObject } from './json.ts';
import { createLearnedTexts } from './learned-texts.ts';
import { STORED_DOCUMENT_NAMES, folded } from './protocol-names.ts';
import { namesStored } from './operation-reader.ts';

/** A request in which texts stand where documents were named, as far as they are known. */
export type WithTexts = {
  /** The request itself if no text was put into it. */
  request: unknown;
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
};

export type StoredDocumentsOptions = {
  /** `pass`: automatic persisted queries are the upstream's alone. */
  apq: 'learn' | 'pass';
  manifest: Pick<ManifestSource, 'current'>;
};

const PERSISTED_QUERY = 'persistedQuery';

export function createStoredDocuments({ apq, manifest }: StoredDocumentsOptions): StoredDocuments {
  const learned = createLearnedTexts();

  function withTextOfHash(request: Record<string, unknown>, payerId: number): Record<string, unknown> {
    const { query, extensions } = request;
    if (!hasText(query) && !isObject(extensions ?? {})) throw invalid('`extensions` must be an object.');
    const sha256 = persistedHash(extensions);
    if (sha256 === null) return request;
    if (hasText(query)) {
      if (sha256 !== hash('sha256', query)) throw new Problem('persisted_query_mismatch');
      learned.set(payerId, sha256, query);
      return request;
    }
    // An upstream could run what it has stored under an id that we don't know, rather than the text of the hash.
    if (namesStored(request)) return request;
    // Apollo's clients send ids of a manifest as if they were hashes.
    const text = learned.get(payerId, sha256) ?? manifest.current().get(sha256);
    if (text === undefined) throw new Problem('PERSISTED_QUERY_NOT_FOUND');
    return { ...request, query: text };
  }

  function withTextOfId(request: Record<string, unknown>): Record<string, unknown> {
    const names = STORED_DOCUMENT_NAMES.filter((name) => (request[name] ?? null) !== null);
    const [name, another] = names;
    if (name === undefined) return request;
    if (hasText(request['query'])) {
      if (names.includes('documentId'))
        throw invalid('A request must not have both `query` and `documentId`.');
      return request;
    }
    if (another !== undefined) return request;
    const { [name]: id, ...rest } = request;
    const text = typeof id === 'string' ? manifest.current().get(id) : undefined;
    // The upstream runs the text that was read, not what it may have stored under the id.
    return text === undefined ? request : { ...rest, query: text };
  }

  function withText(request: unknown, payerId: number): unknown {
    if (!isObject(request)) return request;
    const ofId = withTextOfId(request);
    return apq === 'learn' ? withTextOfHash(ofId, payerId) : ofId;
  }

  return {
    withTexts: (request, payerId) => {
      if (!Array.isArray(request))
        return { request: withText(request, payerId), namesDocument: namesDocument(request) };
      const requests: unknown[] = request.map((each) => withText(each, payerId));
      const isSame = requests.every((each, index) => each === request[index]);
      return { request: isSame ? request : requests, namesDocument: request.some(namesDocument) };
    },
  };
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
