import type { FieldCost } from '@tollgate/graphql-cost/dearest-fields';
import type { CostPreset } from '@tollgate/graphql-cost/load-cost-schema';
import type { Problem } from '@tollgate/http/problem';
import type { FoundTexts } from './stored-documents.ts';

/** Longer bodies are parsed in a worker: scanning and parsing one holds the event loop for up to 100 ms per MiB. */
export const LONG_BODY_MIN_BYTES = 262_144;

/** What a schema and its weights were read from. Another object is another generation. */
export type SchemaTexts = {
  apiVersion: 'v1' | 'v2';
  sdl: string;
  costs: string;
  preset: CostPreset;
  listSize: number;
};

/** Either `estimate` or `unpriced` is null. */
export type OperationPrice = {
  estimate: { points: number; isBounded: boolean } | null;
  /** The fields that cost most. */
  dearest: readonly FieldCost[];
  /** Why there is no estimate. */
  unpriced: Problem | null;
};

/** Of each operation of a body, with the variables that only the worker has. */
export type PriceElsewhere = (schema: SchemaTexts) => Promise<readonly OperationPrice[]>;

/**
 * A body that is parsed in a worker. All promises reject with service_unavailable if the worker ends, or takes too long;
 * and with too_many_requests if the payer has too many such bodies at a time.
 */
export type LongBody = {
  /**
   * The request as `headOf` leaves it; null if the caller has gone meanwhile.
   * @throws {Problem} invalid_request
   */
  head: (batchLimit: number) => Promise<{ request: unknown } | null>;
  /** The body with these texts. */
  withTexts: (found: FoundTexts) => Promise<Buffer>;
  prices: (schema: SchemaTexts, found: FoundTexts | null) => Promise<readonly OperationPrice[]>;
};

export type OpenLongBody = (
  body: Buffer,
  caller: { payerId: number; onGone: (listener: () => void) => () => void },
) => LongBody;
