import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Problem } from '@tollgate/http/problem';
import type { TracedEnd } from '../trace/socket-trace.ts';

/** How the gateway closes a socket: the close code, and a reason that begins with an error code, this one. */
export type Ending = { code: EndingCode; closeCode: number; reason: string };

type EndingCode = ErrorCode | SocketEnding | 'closed';

/** The caller of the older protocol has asked for it. */
export const TERMINATED: Ending = { code: 'closed', closeCode: 1000, reason: '' };

/**
 * Endings that only a socket has; docs/errors.md lists them, and the close codes of the other error codes.
 * 4400 to 4429 are those of graphql-transport-ws, which clients of the older protocol treat like any other.
 */
const SOCKET_ENDINGS = {
  connection_init_timeout: { closeCode: 4408, text: 'Connection initialisation timeout' },
  idle_timeout: { closeCode: 4408, text: 'No operation has been open for too long' },
  duplicate_operation: { closeCode: 4409, text: 'Subscriber for the id already exists' },
  too_many_initialisations: { closeCode: 4429, text: 'Too many initialisation requests' },
  slow_consumer: { closeCode: 4429, text: 'What was sent has not been read in time' },
  service_restart: { closeCode: 1012, text: 'Connect again' },
  upstream_closed: { closeCode: 1012, text: 'The data API closed the connection' },
} as const;

export type SocketEnding = keyof typeof SOCKET_ENDINGS;

/** The connection to the upstream can't be gone on with, and a new one would fail alike. */
export const UPSTREAM_FAILED: Ending = { ...socketEnding('upstream_closed'), closeCode: 1011 };

/** RFC 6455, section 5.5: a control frame has 125 bytes, two of them for the code. */
const MAX_REASON_BYTES = 123;

export function socketEnding(name: SocketEnding): Ending {
  const { closeCode, text } = SOCKET_ENDINGS[name];
  return { code: name, closeCode, reason: `${name}: ${text}` };
}

/** The close that says on a socket what a problem's status says over HTTP. */
export function endingOf(problem: Problem): Ending {
  return {
    code: problem.code,
    closeCode: closeCodeOf(problem),
    reason: cut(`${problem.code}: ${problem.detail ?? problem.title}`),
  };
}

/** Lasting ones first: the status 402 is shared by limits that are used up and by a period that has ended. */
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
    // Clients come back by themselves: 1011 is final to those of graphql-transport-ws.
    case 502:
    case 503:
    case 504:
      return 1013;
    default:
      return 1011;
  }
}

/** What a caller is told where the upstream closed a socket that still had operations. */
export function endingOfUpstream(closeCode: number, reason: string): Ending {
  const isOwn = closeCode >= 4000 && closeCode < 5000;
  if (FINAL.has(closeCode)) return UPSTREAM_FAILED;
  if (isOwn) return { code: 'upstream_closed', closeCode, reason: cut(reason) };
  // Restarting, overloaded or gone without a word: a client may come back at once.
  return socketEnding('upstream_closed');
}

/**
 * RFC 6455, section 7.4.1: what the upstream finds wrong with the connection, and would again. 4401, 4408 and 4429
 * speak from the gateway of the token, of time limits and of the plan: an upstream that says them means its own
 * socket, and a client that took it for the gateway's word would throw its good token away.
 */
const FINAL = new Set([1002, 1003, 1007, 1008, 1009, 1010, 1011, 4401, 4408, 4429]);

/** The end of a socket, and of its operations, as traces tell it: an error is what has a status from 500 on. */
export function tracedEnd({ code, closeCode }: Ending): TracedEnd {
  const failed = code === 'upstream_closed' || closeCode === 1011 || closeCode === 1013;
  return { outcome: code, failed, closeCode };
}

/** The same of a socket that its caller closed, or that broke: 1006. */
export function tracedClose(closeCode: number): TracedEnd {
  return { outcome: closeCode === 1006 ? 'aborted' : 'closed', failed: false, closeCode };
}

/** The same of an operation that its caller has left. */
export const STOPPED: TracedEnd = { outcome: 'stopped', failed: false };

/** The same of one that is refused while its socket stays. */
export function tracedRefusal({ code, status }: Problem): TracedEnd {
  return { outcome: code, failed: status >= 500 };
}

function cut(reason: string): string {
  if (Buffer.byteLength(reason) <= MAX_REASON_BYTES) return reason;
  // A character that the cut went through must not become a replacement character of three bytes.
  return Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES)
    .toString()
    .replace(/\ufffd$/, '');
}
