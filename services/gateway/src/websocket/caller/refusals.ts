import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { Problem } from '@tollgate/http/problem';
import type { Principal } from '../../ledger/principal.ts';
import type { Refusal } from '../../refusals/refused-calls.ts';
import type { RefusedOperation } from '../operations/socket-operations.ts';
import type { SocketClose } from '../protocol/close-codes.ts';

type RefusedSocket = { requestId: string; clientAddress: string; principal: Principal | null };

const ORDINARY = new Set<string>(['closed', 'idle_timeout', 'service_restart']);

/** The record of a socket that the gateway closed; null if nothing was refused and nothing failed. */
export function refusalOfClose(
  socket: RefusedSocket,
  { code, reason }: SocketClose,
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
    points: null,
    operationName: () => null,
  };
}

export function refusalOfOperation(
  socket: RefusedSocket,
  { code, status, detail }: Problem,
  { name, isSent, openMs }: RefusedOperation,
): Refusal {
  // A subscription that was sent costs by the minute, and a query what the upstream may still say.
  const operation = { operationName: () => name, points: isSent ? null : 0, durationMs: openMs };
  return { ...commonOf(socket), kind: 'operation', code, status, detail, ...operation };
}

function commonOf({ requestId, clientAddress, principal }: RefusedSocket) {
  return {
    requestId,
    address: clientAddress,
    active: principal?.token ?? null,
    payerId: principal?.payer.payerId ?? null,
    token: undefined,
    apiVersion: 'v2' as const,
  };
}
