import type { IncomingMessage } from 'node:http';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { AccessLog } from '@tollgate/log/access-log';
import { newRequestId } from '@tollgate/log/request-id';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { Problem } from '@tollgate/http/problem';
import { whoOf } from '../../pipeline/authenticate/authenticate.ts';
import type { LogFailure } from '../../refusals/failure-log.ts';
import type { Principal } from '../../ledger/principal.ts';
import { operationNameOf } from '../../refusals/operation-name.ts';
import type { RecordRefusal, Refusal } from '../../refusals/refused-calls.ts';
import type { SocketTrace } from '../../trace/socket-trace.ts';
import type { Traces } from '../../trace/traces.ts';
import { tokenOfRequest } from './credential.ts';

export type PendingUpgrade = {
  requestId: string;
  trace: SocketTrace | null;
  beganMs: number;
  clientAddress: string;
  principal: Partial<Principal>;
};

export type PendingUpgradesOptions = {
  addressOf: AddressOf;
  traces: Pick<Traces, 'open'>;
  onUpgrade: (outcome: string) => void;
  logFailure: LogFailure;
  recordRefusal: RecordRefusal;
  accessLog: Pick<AccessLog, 'note'> | null;
};

export function createPendingUpgrades(options: PendingUpgradesOptions) {
  const { addressOf, traces, onUpgrade, logFailure, recordRefusal, accessLog } = options;
  const pending = new WeakMap<IncomingMessage, PendingUpgrade>();

  function begin(req: IncomingMessage): PendingUpgrade {
    const requestId = newRequestId();
    const upgrade = {
      requestId,
      trace: traces.open(req, requestId),
      beganMs: performance.now(),
      clientAddress: addressOf(req),
      principal: {},
    };
    pending.set(req, upgrade);
    accessLog?.note(req, { request_id: requestId });
    return upgrade;
  }

  return {
    begin,
    of: (req: IncomingMessage): PendingUpgrade => pending.get(req) ?? begin(req),
    identified: (req: IncomingMessage, upgrade: PendingUpgrade, token: ActiveToken): void => {
      upgrade.principal.token = token;
      accessLog?.note(req, whoOf(token));
    },
    accepted: (req: IncomingMessage, { trace }: Pick<PendingUpgrade, 'trace'>): void => {
      onUpgrade('accepted');
      accessLog?.note(req, { status: 101 });
      trace?.answered('accepted', 101);
    },
    refused: (req: IncomingMessage, upgrade: PendingUpgrade, problem: Problem): void => {
      const { code, status } = problem;
      onUpgrade(code);
      upgrade.trace?.answered(code, status);
      if (status >= 500) logFailure(upgrade.requestId, problem, upgrade.clientAddress);
      accessLog?.note(req, { status });
      recordRefusal(refusalOfUpgrade(req, upgrade, problem));
    },
  };
}

function refusalOfUpgrade(
  req: IncomingMessage,
  { requestId, beganMs, clientAddress, principal }: PendingUpgrade,
  { code, status, detail }: Problem,
): Refusal {
  return {
    requestId,
    kind: 'upgrade',
    code,
    status,
    detail,
    apiVersion: 'v2',
    active: principal.token ?? null,
    payerId: principal.payer?.payerId ?? null,
    token: principal.token === undefined ? presentedToken(req) : undefined,
    address: clientAddress,
    durationMs: performance.now() - beganMs,
    points: 0,
    operationName: () => operationNameOf(req),
  };
}

function presentedToken(req: IncomingMessage): string | undefined {
  try {
    return tokenOfRequest(req);
  } catch {
    return undefined;
  }
}
