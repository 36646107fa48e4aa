import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Problem } from '@tollgate/http/problem';
import type { TracedEnd } from '../../trace/socket-trace.ts';

/** How the gateway closes a socket. `reason` begins with `code`, so that callers can read it. */
export type SocketClose = { code: SocketCloseCode; closeCode: number; reason: string };

type SocketCloseCode = ErrorCode | OwnCloseCode | 'closed';

export const TERMINATED: SocketClose = { code: 'closed', closeCode: 1000, reason: '' };

/**
 * Closes that only sockets have; 4400 to 4429 are from graphql-transport-ws. `meaning` and `fix` are for
 * docs/errors.md.
 */
const OWN_CLOSES = {
  connection_init_timeout: {
    closeCode: 4408,
    text: 'Connection initialisation timeout',
    meaning: 'no `connection_init` arrived in time',
    fix: 'Connect again when you need to.',
  },
  idle_timeout: {
    closeCode: 4408,
    text: 'No operation was open for too long',
    meaning: 'no operation was open for too long',
    fix: 'Connect again when you need to.',
  },
  duplicate_operation: {
    closeCode: 4409,
    text: 'Subscriber for the id already exists',
    meaning: "the operation's id is in use",
    fix: 'Give each open operation an id of its own.',
  },
  too_many_initialisations: {
    closeCode: 4429,
    text: 'Too many initialisation requests',
    meaning: 'the client sent a second `connection_init`',
    fix: 'Send `connection_init` once per connection.',
  },
  slow_consumer: {
    closeCode: 4429,
    text: 'Messages were not read in time',
    meaning: "the client didn't read its messages in time",
    fix: 'Read faster, or subscribe to less.',
  },
  service_restart: {
    closeCode: 1012,
    text: 'Reconnect',
    meaning: 'the gateway is restarting',
    fix: 'Connect again at once and restart subscriptions.',
  },
  upstream_closed: {
    closeCode: 1012,
    text: 'The data API closed the connection',
    meaning: 'the data API closed the connection, for example because it is restarting',
    fix: 'Connect again at once and restart subscriptions.',
  },
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

type ExplainedClose = { closeCode: number; reason: string; meaning: string; fix: string };

/** The problems that close a socket, as docs/errors.md explains them there. */
const PROBLEM_CLOSES: Partial<Record<ErrorCode, { meaning: string; fix: string }>> = {
  invalid_request: { meaning: 'a malformed message, or two different tokens', fix: 'Fix the client.' },
  unauthorized: {
    meaning: 'no token or `connection_init` in time; the token is invalid, expired or revoked',
    fix: 'Get a new token.',
  },
  account_blocked: { meaning: 'when connecting, or while the socket is open', fix: 'As over HTTP.' },
  no_active_billing_period: { meaning: 'when connecting, or while the socket is open', fix: 'As over HTTP.' },
  points_limit_exceeded: {
    meaning: "the billing period's points are used up",
    fix: 'Wait for the next period.',
  },
  budget_exceeded: {
    meaning: 'the budget of the application or the member is used up',
    fix: 'As over HTTP.',
  },
  points_reserved: {
    meaning: "calls in flight have reserved what is left, and the subscription's next minute isn't covered",
    fix: 'As over HTTP.',
  },
  time_limit_exceeded: { meaning: "the billing period's time is used up", fix: 'Wait for the next period.' },
  traffic_limit_exceeded: {
    meaning: "the billing period's traffic is used up",
    fix: 'Wait for the next period.',
  },
  too_many_requests: { meaning: 'too many sockets or messages', fix: 'Send less.' },
  internal_error: { meaning: 'a bug in this service', fix: 'Contact support.' },
  service_unavailable: {
    meaning: "the token, the account or a new subscription can't be checked at the moment",
    fix: 'Connect again after a second.',
  },
  upstream_unreachable: { meaning: 'the data API is unavailable', fix: 'Connect again after a second.' },
  upstream_timeout: { meaning: "the data API didn't answer in time", fix: 'Connect again after a second.' },
};

/** The table of docs/errors.md. */
export function explainedCloses(): ExplainedClose[] {
  const problems = Object.entries(ERROR_CODES).flatMap(([code, { status }]) => {
    const explained = PROBLEM_CLOSES[code as ErrorCode];
    const closeCode = closeCodeOf({ code: code as ErrorCode, status });
    return explained === undefined ? [] : [{ closeCode, reason: code, ...explained }];
  });
  const own = Object.entries(OWN_CLOSES).map(([reason, close]) => ({ ...close, reason }));
  return [
    ...problems,
    ...own,
    {
      closeCode: 1008,
      reason: '',
      meaning: 'a message comes in too many pieces',
      fix: 'Send a message in one frame.',
    },
    { closeCode: 1009, reason: '', meaning: 'a message is too large', fix: 'Send less.' },
    {
      closeCode: UPSTREAM_FAILED.closeCode,
      reason: UPSTREAM_FAILED.code,
      meaning: 'the data API closed the connection and would close a new one, too',
      fix: 'Contact support.',
    },
  ].sort((a, b) => a.closeCode - b.closeCode);
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
