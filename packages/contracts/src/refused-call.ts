import { z } from 'zod';

/** Redis Stream to account (docs/design/settlement.md). A record may come twice, with the same request id and `seq`. */
export const REFUSED_CALLS_KEY = '{s0}:refused-calls';

/** Its value is a JSON record. */
export const REFUSED_CALL_FIELD = 'call';

export const MAX_REFUSED_CALL_DETAIL = 200;

/** GraphQL's Name: no caller's text gets into a record with it. */
export const OPERATION_NAME = /^[_A-Za-z][_0-9A-Za-z]{0,99}$/;

/** An HTTP call, a WebSocket's upgrade or operation, or a `socket` that the gateway closed. */
export const REFUSED_CALL_KINDS = ['call', 'upgrade', 'operation', 'socket'] as const;

/** Postgres' text holds neither NUL nor half a surrogate pair. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0') && value.isWellFormed());

export const refusedCallSchema = z.object({
  request_id: z.string().regex(/^[0-9a-f]{32}$/),
  /** Per gateway process, as operations share the request id of their socket. */
  seq: z.int().min(1),
  at_ms: z.int().min(0).max(8_640_000_000_000_000),
  kind: z.enum(REFUSED_CALL_KINDS),
  /** An error code, `upstream_error`, `broken`, `unrecorded`, or a socket's ending. */
  code: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
  /** Null if the code has none. */
  status: z.int().min(100).max(599).nullable(),
  account_id: z.int().nullable(),
  payer_id: z.int().nullable(),
  application_id: z.int().nullable(),
  /** From a refused token that is well-formed: anybody can make one up. */
  client_id: z.uuid().nullable(),
  /** The client's, according to trusted proxies; empty if the connection was gone. */
  address: text(64),
  api_version: z.enum(['v1', 'v2']),
  duration_ms: z.int().min(0).nullable(),
  detail: text(MAX_REFUSED_CALL_DETAIL).nullable(),
  /** What the call cost; null if that isn't known, as for a stream, or if a gateway of a former version sent it. */
  points: z.int().min(0).nullable().default(null),
  /** Only if the gateway has read it: from a URL or a WebSocket message. */
  operation_name: z.string().regex(OPERATION_NAME).nullable().default(null),
  /** Refusals with this code, of the same account or address, that were left out since its last record. */
  unrecorded_before: z.int().min(0),
});

export type RefusedCall = z.infer<typeof refusedCallSchema>;

/** Redis Stream to account: exact numbers of the calls that the records are samples of (docs/design/settlement.md). */
export const REFUSAL_COUNTS_KEY = '{s0}:refused-call-counts';

/** Its value is a JSON batch. */
export const REFUSAL_COUNTS_FIELD = 'counts';

const HOUR_MS = 3_600_000;

export const refusalCountSchema = refusedCallSchema
  .pick({ code: true, account_id: true, payer_id: true, application_id: true, client_id: true })
  .extend({
    /** The start of an hour of UTC. */
    hour_ms: z.int().min(0).max(8_640_000_000_000_000).multipleOf(HOUR_MS),
    last_at_ms: z.int().min(0).max(8_640_000_000_000_000),
    calls: z.int().min(1),
  });

export type RefusalCount = z.infer<typeof refusalCountSchema>;

/** A gateway process numbers its batches and sends the next only when this one is acknowledged, possibly after a repeat. */
export const refusalCountBatchSchema = z.object({
  gateway_id: z.uuid(),
  seq: z.int().min(1),
  counts: z.array(refusalCountSchema),
});

export type RefusalCountBatch = z.infer<typeof refusalCountBatchSchema>;
