import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Problem } from '@tollgate/http/problem';
import type { TracedEnd } from '../../trace/socket-trace.ts';

/** How the gateway closes a socket. `reason` begins with `code`, so that callers can read it. */
export type SocketClose = { code: SocketCloseCode; closeCode: number; reason: string };

type SocketCloseCode = ErrorCode | OwnCloseCode | 'closed';

export const TERMINATED: SocketClose = { code: 'closed', closeCode: 1000, reason: '' };

/** Closes that only sockets have (docs/errors.md); 4400 to 4429 are from graphql-transport-ws. */
const OWN_CLOSES = {
  connection_init_timeout: { closeCode: 4408, text: 'Connection initialisation timeout' },
  idle_timeout: { closeCode: 4408, text: 'No operation was open for too long' },
  duplicate_operation: { closeCode: 4409, text: 'Subscriber for the id already exists' },
  too_many_initialisations: { closeCode: 4429, text: 'Too many initialisation requests' },
  slow_consumer: { closeCode: 4429, text: 'Messages were not read in time' },
  service_restart: { closeCode: 1012, text: 'Reconnect' },
  upstream_closed: { closeCode: 1012, text: 'The data API closed the connection' },
} as const;

export type OwnCloseCode = keyof typeof OWN_CLOSES;

/** A new connection to the upstream would fail in the same way. */
export const UPSTREAM_FAILED: SocketClose = { ...gatewayClose('upstream_closed'), closeCode: 1011 };

/** RFC 6455, section 5.5: a control frame has up to 125 bytes, two of them for the code. */
const MAX_REASON_BYTES = 123;

export function gatewayClose(name: OwnCloseCode): SocketClose {
  const { closeCode, text } = OWN_CLOSES[name];
  return { code: name, closeCode, reason: `${name}: ${text}` };
}

export function closeFor(problem: Problem): SocketClose {
  return {
    code: problem.code,
    closeCode: closeCodeOf(problem),
    reason: cut(`${problem.code}: ${problem.detail ?? problem.title}`),
  };
}

/** By code first: used-up limits and an ended period share the status 402. */
function closeCodeOf({ code, status }: { code: ErrorCode; status: number }): number {
  if (code === 'no_active_billing_period') return 4403;
  switch (status) {
    case 400:
      return 4400;
    case 401:
      return 4401;
    case 403:
      return 4403;
    case 402:
    case 429:
      return 4429;
    // Clients reconnect by themselves; 1011 would be final to those of graphql-transport-ws.
    case 502:
    case 503:
    case 504:
      return 1013;
    default:
      return 1011;
  }
}

export function closeForUpstream(closeCode: number, reason: string): SocketClose {
  const isOwn = closeCode >= 4000 && closeCode < 5000;
  if (FINAL.has(closeCode)) return UPSTREAM_FAILED;
  if (isOwn) return { code: 'upstream_closed', closeCode, reason: cut(reason) };
  // The upstream restarted, is overloaded or lost the connection: clients may reconnect at once.
  return gatewayClose('upstream_closed');
}

// RFC 6455, section 7.4.1: a new connection would repeat these. An upstream's 4401, 4408 and 4429 concern its own
// connection; a client would take them for the gateway's and discard a valid token.
const FINAL = new Set([1002, 1003, 1007, 1008, 1009, 1010, 1011, 4401, 4408, 4429]);

/** The end of a socket and its operations in traces; server errors (5xx) count as failed. */
export function tracedEnd({ code, closeCode }: SocketClose): TracedEnd {
  const failed = code === 'upstream_closed' || closeCode === 1011 || closeCode === 1013;
  return { outcome: code, failed, closeCode };
}

export function tracedClose(closeCode: number): TracedEnd {
  return { outcome: closeCode === 1006 ? 'aborted' : 'closed', failed: false, closeCode };
}

export const STOPPED: TracedEnd = { outcome: 'stopped', failed: false };

export function tracedRefusal({ code, status }: Problem): TracedEnd {
  return { outcome: code, failed: status >= 500 };
}

function cut(reason: string): string {
  if (Buffer.byteLength(reason) <= MAX_REASON_BYTES) return reason;
  // A character cut in half would become a replacement character of three bytes.
  return Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES)
    .toString()
    .replace(/\ufffd$/, '');
}
