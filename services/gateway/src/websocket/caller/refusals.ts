import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { Problem } from '@tollgate/http/problem';
import type { Refusal } from '../../refused-calls/refused-calls.ts';
import type { Ending } from '../ending.ts';
import type { Identity } from './identify.ts';

/** What the records of one socket have in common. */
type RefusedSocket = { requestId: string; clientAddress: string; identity: Identity | null };

/** What ends in the ordinary course of things; a restart ends all sockets at once. */
const ORDINARY = new Set<string>(['closed', 'idle_timeout', 'service_restart']);

/** The record of a socket that the gateway has closed; null where nothing was refused and nothing failed. */
export function refusalOfEnding(
  socket: RefusedSocket,
  { code, reason }: Ending,
  { openMs, token }: { openMs: number; token: string | undefined },
): Refusal | null {
  if (ORDINARY.has(code)) return null;
  return {
    ...commonOf(socket),
    kind: 'socket',
    code,
    status: code in ERROR_CODES ? ERROR_CODES[code as keyof typeof ERROR_CODES].status : null,
    detail: reason.startsWith(`${code}: `) ? reason.slice(code.length + 2) : reason,
    token,
    durationMs: openMs,
  };
}

/** The record of an operation that was refused, or failed, while its socket stays. */
export function refusalOfOperation(socket: RefusedSocket, problem: Problem, openMs: number): Refusal {
  const { code, status, detail } = problem;
  return { ...commonOf(socket), kind: 'operation', code, status, detail, durationMs: openMs };
}

function commonOf({ requestId, clientAddress, identity }: RefusedSocket) {
  return {
    requestId,
    address: clientAddress,
    active: identity?.active ?? null,
    payerId: identity?.payer.payerId ?? null,
    token: undefined,
    apiVersion: 'v2' as const,
  };
}
