import type { HttpRequest } from '@tollgate/plain-http/message';
import { Problem } from '@tollgate/http/problem';
import { createEstimates } from '../../src/estimate/estimates.ts';
import { loadSchemaTexts } from '../../src/estimate/open-cost-schema.ts';
import type { Guards } from '../../src/operation-reader/guards.ts';
import { createLearnedTexts } from '../../src/operation-reader/learned-texts.ts';
import type { OpenLongBody, SchemaTexts } from '../../src/operation-reader/long-bodies.ts';
import { createReadDataCall } from '../../src/operation-reader/read-call.ts';
import { createReaderOf } from '../../src/operation-reader/readers-of-plans.ts';
import { createStoredDocuments } from '../../src/operation-reader/stored-documents.ts';

export type ReadingOptions = {
  texts: SchemaTexts;
  /** Texts of documents by their ids. */
  stored: ReadonlyMap<string, string>;
  guards: Guards;
  maxDocumentBytes: number;
  maxBytes: number;
  openLongBody: OpenLongBody;
  longBodyMinBytes: number;
};

/** What a call is answered with or forwarded as, and what it is told to cost. */
export function createReading({
  texts,
  stored,
  guards,
  maxDocumentBytes,
  maxBytes,
  openLongBody,
  longBodyMinBytes,
}: ReadingOptions) {
  const { schema } = loadSchemaTexts(texts);
  const estimates = createEstimates({
    current: () => schema,
    texts: () => texts,
    reload: () => Promise.resolve(),
  });
  const read = createReadDataCall({
    readerOf: createReaderOf({ maxDocumentBytes, guards, batchLimit: 3 }),
    body: { maxBytes, idleTimeoutMs: 1_000, totalTimeoutMs: 1_000 },
    bodiesMaxBytes: 100 * maxBytes,
    maxUploads: 0,
    openLongBody,
    longBodyMinBytes,
  });
  const documents = createStoredDocuments({
    apq: 'learn',
    learned: createLearnedTexts(),
    textOf: (id) => stored.get(id),
    trusting: [],
  });
  return async (wholeBody: Buffer) => {
    const socket = { once: () => undefined, off: () => undefined };
    const req = {
      method: 'POST',
      headers: {},
      rawHeaders: ['content-type', 'application/json'],
      wholeBody,
      socket,
    };
    try {
      const call = await read(req as unknown as HttpRequest, { payerId: 1, callRules: null }, documents);
      if (call === null) throw new Error('the caller has not gone');
      await estimates.prepare({ ...call });
      const { operations, requests, body } = call;
      call.release();
      return {
        operations: { ...operations, operationName: nameOf(operations.operationName), estimated: null },
        body: Buffer.isBuffer(body) ? body.toString() : null,
        estimate: estimates.of(call),
        priced: requests.map((request) => {
          const estimate = estimates.ofRequest(request);
          return {
            text: request.text,
            operationName: nameOf(request.operationName),
            estimate: estimate && { points: estimate.points, isBounded: estimate.isBounded },
            dearest: estimates.dearest(request, 3),
            unpriced: estimate === null ? told(estimates.whyUnpriced(request)) : null,
          };
        }),
      };
    } catch (error) {
      return told(error);
    }
  };
}

/** Only a text can name an operation. */
function nameOf(operationName: unknown): string | null {
  return typeof operationName === 'string' ? operationName : null;
}

function told(error: unknown) {
  if (!(error instanceof Problem)) throw error;
  const { code, detail, extensions, headers } = error;
  return { code, detail, extensions, headers };
}
