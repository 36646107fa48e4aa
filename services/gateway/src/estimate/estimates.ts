import { setImmediate } from 'node:timers/promises';
import { GraphQLError, Source, getLocation, parse } from 'graphql';
import type { SourceLocation } from 'graphql';
import type { CostSchema } from '@tollgate/graphql-cost/cost-schema';
import type { FieldCost } from '@tollgate/graphql-cost/dearest-fields';
import { NoPrice } from '@tollgate/graphql-cost/no-price';
import { priceDocument } from '@tollgate/graphql-cost/priced-document';
import type { PricedDocument } from '@tollgate/graphql-cost/priced-document';
import { Problem } from '@tollgate/http/problem';
import type { OperationRequest, ReadRequest } from '../operation-reader/operation-reader.ts';
import type { OperationPrice } from '../operation-reader/long-bodies.ts';
import type { ReadCall } from '../operation-reader/read-call.ts';
import { areElsewhere } from '../operation-reader/request-head.ts';
import { createTextCache } from '../operation-reader/text-cache.ts';
import type { CostSchemaSource } from './open-cost-schema.ts';

export type Estimate = { points: number; isBounded: boolean };

/** How many fields a price names at most. */
export const DEAREST_FIELDS = 10;

/** What operations cost at most by the schema (docs/design/price.md). */
export type Estimates = {
  /** The one by which calls are priced at the moment. */
  schema: () => CostSchema | null;
  /** Of all operations of a request together; null if one of them has no price. */
  of: (read: ReadRequest) => Estimate | null;
  /**
   * What the others tell then, worked out in a turn of the event loop for each operation, or elsewhere.
   * @throws {Problem} (the promise) that of what works it out elsewhere
   */
  prepare: (read: ReadRequest & Pick<ReadCall, 'priceElsewhere'>) => Promise<void>;
  /** Of one operation; null if it has no price. */
  ofRequest: (request: OperationRequest) => Estimate | null;
  /** The fields that cost most by themselves. */
  dearest: (request: OperationRequest, count: number) => FieldCost[];
  /** Why an operation has no price: document_invalid, price_unknown, or service_unavailable without a schema. */
  whyUnpriced: (request: OperationRequest) => Problem;
  /** Reads the schema again, unless that was just done. Never rejects. */
  reload: () => Promise<void>;
};

/** Of texts; what is compiled takes a few times their memory, and only if it depends on variables. */
const KEPT_TEXTS_MAX_LENGTH = 4_194_304;

export function createEstimates(source: Pick<CostSchemaSource, 'current' | 'texts' | 'reload'>): Estimates {
  const documents = createTextCache<PricedDocument>(KEPT_TEXTS_MAX_LENGTH);
  /** Of long requests, whose texts may be too long to be kept. */
  let prepared = new WeakMap<OperationRequest, Prepared>();
  let generation: CostSchema | null = null;

  /** Nothing is kept over a change of the schema. */
  function schemaNow(): CostSchema | null {
    const schema = source.current();
    if (schema !== generation) {
      documents.clear();
      prepared = new WeakMap();
      generation = schema;
    }
    return schema;
  }

  function documentOf(schema: CostSchema, text: string): PricedDocument {
    return documents.of(text, () => priceDocument(schema, text, parse(text, { noLocation: true })));
  }

  function priced<T>({ text, variables }: OperationRequest, read: (document: PricedDocument) => T): T | null {
    const schema = schemaNow();
    // What is elsewhere was priced by a schema that has changed.
    if (schema === null || text === null || areElsewhere(variables)) return null;
    try {
      return read(documentOf(schema, text));
    } catch (error) {
      // Without guards, texts that don't parse or overflow the stack are forwarded, too.
      const isUnpriced =
        error instanceof NoPrice || error instanceof GraphQLError || error instanceof RangeError;
      if (isUnpriced) return null;
      throw error;
    }
  }

  function ofRequest(request: OperationRequest): Estimate | null {
    schemaNow();
    const known = prepared.get(request);
    return known === undefined ? priced(request, (document) => document.price(request)) : known.estimate;
  }

  function sumOf({ requests }: ReadRequest): Estimate | null {
    const [only, another] = requests;
    if (only !== undefined && another === undefined) return ofRequest(only);
    return requests.map(ofRequest).reduce(together, NOTHING);
  }

  return {
    schema: schemaNow,
    of: (read) => {
      const schema = schemaNow();
      if (schema === null) return null;
      const { operations } = read;
      if (operations.estimated?.schema !== schema) operations.estimated = { schema, estimate: sumOf(read) };
      return operations.estimated.estimate;
    },
    prepare: async ({ operations, requests, priceElsewhere }) => {
      const schema = schemaNow();
      const texts = source.texts();
      if (schema === null) return;
      const prices = texts === null ? null : await priceElsewhere?.(texts);
      let estimate: Estimate | null = NOTHING;
      for (const [index, request] of requests.entries()) {
        const price = prices?.[index] ?? { estimate: ofRequest(request) };
        if (schemaNow() === schema) prepared.set(request, price);
        estimate = together(estimate, price.estimate);
        if (!prices) await setImmediate();
      }
      // Otherwise some may be priced by another one.
      if (schemaNow() === schema) operations.estimated = { schema, estimate };
    },
    ofRequest,
    dearest: (request, count) =>
      prepared.get(request)?.dearest?.slice(0, count) ??
      priced(request, (document) => document.dearest(request, count)) ??
      [],
    whyUnpriced: (request) => {
      const schema = schemaNow();
      if (schema === null) return unavailable('there is no GraphQL schema to price operations by');
      if (areElsewhere(request.variables)) return prepared.get(request)?.unpriced ?? schemaChanged();
      return whyUnpriced(schema, request);
    },
    reload: source.reload,
  };
}

/** Of an operation; with all that is told of it if its variables are elsewhere. */
type Prepared = Pick<OperationPrice, 'estimate'> & Partial<OperationPrice>;

const NOTHING: Estimate = { points: 0, isBounded: true };

function together(sum: Estimate | null, one: Estimate | null): Estimate | null {
  if (sum === null || one === null) return null;
  return { points: sum.points + one.points, isBounded: sum.isBounded && one.isBounded };
}

/** Prices the operation again, with the places in its text. */
function whyUnpriced(schema: CostSchema, request: OperationRequest): Problem {
  const { text } = request;
  if (text === null) return new Problem('price_unknown', { detail: 'A stored document has no known price.' });
  try {
    priceDocument(schema, text, parse(text)).price(request);
  } catch (error) {
    // The parser's message quotes the document, whose literals must not be recorded.
    if (error instanceof GraphQLError) return invalid(undefined, error.locations?.[0]);
    if (error instanceof RangeError) return new Problem('price_unknown');
    if (!(error instanceof NoPrice)) throw error;
    const { reason, message, offset } = error;
    if (reason === 'too_complex') return new Problem('price_unknown', { detail: message });
    return invalid(message, offset === null ? undefined : getLocation(new Source(text), offset));
  }
  return schemaChanged();
}

function schemaChanged(): Problem {
  return unavailable('the GraphQL schema has changed while an operation was priced');
}

function invalid(detail: string | undefined, location: SourceLocation | undefined): Problem {
  return new Problem('document_invalid', {
    ...(detail === undefined ? {} : { detail }),
    extensions: location === undefined ? {} : { locations: [location] },
  });
}

function unavailable(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
