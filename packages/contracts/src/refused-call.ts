import { z } from 'zod';

/**
 * How refused and failed data calls travel from the gateways to account (ADR 0045): one Redis Stream, one entry per
 * record. The gateways cap it, account removes what it has stored. A record may come twice, under one request id and
 * sequence number.
 */
export const REFUSED_CALLS_KEY = '{s0}:refused-calls';

/** The one field of an entry; its value is a JSON record. */
export const REFUSED_CALL_FIELD = 'call';

/** The longest `detail` of a record, in characters. */
export const MAX_REFUSED_CALL_DETAIL = 200;

/**
 * What was refused: a `call` over HTTP, the `upgrade` to a WebSocket, an `operation` on one, or the `socket` itself,
 * which the gateway has closed.
 */
export const REFUSED_CALL_KINDS = ['call', 'upgrade', 'operation', 'socket'] as const;

/** Postgres' text holds neither NUL nor half a surrogate pair. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0') && value.isWellFormed());

export const refusedCallSchema = z.object({
  request_id: z.string().regex(/^[0-9a-f]{32}$/),
  /** Running number of the gateway process. Many operations share the request id of their socket. */
  seq: z.int().min(1),
  /** When it was refused or failed, milliseconds since the epoch. */
  at_ms: z.int().min(0).max(8_640_000_000_000_000),
  kind: z.enum(REFUSED_CALL_KINDS),
  /** An error code, or how a call ended without one: `broken`, `unrecorded`, a socket's ending. */
  code: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
  /** The HTTP status that was sent, or that the code stands for. Null where it stands for none. */
  status: z.int().min(100).max(599).nullable(),
  /** Null where the call was refused before it was known. */
  account_id: z.int().nullable(),
  payer_id: z.int().nullable(),
  application_id: z.int().nullable(),
  /** The client that a refused token names, where the token is well formed. Anybody can make up such a token. */
  client_id: z.uuid().nullable(),
  /** Of the client, as far as trusted proxies say so; empty where the connection was gone. */
  address: text(64),
  api_version: z.enum(['v1', 'v2']),
  /** From the request, or the start of the operation, to its end. */
  duration_ms: z.int().min(0).nullable(),
  /** One public sentence on this occurrence, for instance which limit. */
  detail: text(MAX_REFUSED_CALL_DETAIL).nullable(),
  /** How many refusals of the same account, or the same address, were left out since its last record. */
  unrecorded_before: z.int().min(0),
});

export type RefusedCall = z.infer<typeof refusedCallSchema>;
