import { z } from 'zod';

/** Redis Stream to account (ADR 0045). A record may come twice, with the same request id and `seq`. */
export const REFUSED_CALLS_KEY = '{s0}:refused-calls';

/** Its value is a JSON record. */
export const REFUSED_CALL_FIELD = 'call';

export const MAX_REFUSED_CALL_DETAIL = 200;

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
  /** An error code, `broken`, `unrecorded`, or a socket's ending. */
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
  /** Refusals of the same account or address that were left out since its last record. */
  unrecorded_before: z.int().min(0),
});

export type RefusedCall = z.infer<typeof refusedCallSchema>;
