import type { IncomingMessage } from 'node:http';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { AccessLog } from '@tollgate/log/access-log';
import { newRequestId } from '@tollgate/log/request-id';
import type { AddressOf } from '@tollgate/http/error-handler';
import type { Problem } from '@tollgate/http/problem';
import { whoOf } from '../../data-call/data-call.ts';
import type { LogFailure } from '../../data-call/failure-log.ts';
import type { RecordRefusal, Refusal } from '../../refused-calls/refused-calls.ts';
import type { SocketTrace } from '../../trace/socket-trace.ts';
import type { Traces } from '../../trace/traces.ts';
import { tokenOfRequest } from './credential.ts';

/** An upgrade request that has come. */
export type BegunUpgrade = {
  requestId: string;
  trace: SocketTrace | null;
  beganMs: number;
  clientAddress: string;
  /** Who calls and who pays, as far as it is known. */
  active: ActiveToken | null;
  payerId: number | null;
};

export type BegunUpgradesOptions = {
  addressOf: AddressOf;
  traces: Pick<Traces, 'open'>;
  onUpgrade: (outcome: string) => void;
  logFailure: LogFailure;
  recordRefusal: RecordRefusal;
  accessLog: Pick<AccessLog, 'note'> | null;
};

/** Upgrade requests and how they ended, as metrics, traces, logs and records tell it. */
export function createBegunUpgrades(options: BegunUpgradesOptions) {
  const { addressOf, traces, onUpgrade, logFailure, recordRefusal, accessLog } = options;
  const begun = new WeakMap<IncomingMessage, BegunUpgrade>();

  function begin(req: IncomingMessage): BegunUpgrade {
    const requestId = newRequestId();
    const upgrade = {
      ...{ requestId, trace: traces.open(req, requestId), beganMs: performance.now() },
      ...{ clientAddress: addressOf(req), active: null, payerId: null },
    };
    begun.set(req, upgrade);
    accessLog?.note(req, { request_id: requestId });
    return upgrade;
  }

  return {
    begin,
    of: (req: IncomingMessage): BegunUpgrade => begun.get(req) ?? begin(req),
    /** Its token is good. */
    identified: (req: IncomingMessage, upgrade: BegunUpgrade, active: ActiveToken): void => {
      upgrade.active = active;
      accessLog?.note(req, whoOf(active));
    },
    accepted: (req: IncomingMessage, { trace }: Pick<BegunUpgrade, 'trace'>): void => {
      onUpgrade('accepted');
      accessLog?.note(req, { status: 101 });
      trace?.answered('accepted', 101);
    },
    refused: (req: IncomingMessage, upgrade: BegunUpgrade, problem: Problem): void => {
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
  { requestId, beganMs, clientAddress, active, payerId }: BegunUpgrade,
  { code, status, detail }: Problem,
): Refusal {
  return {
    ...{ requestId, kind: 'upgrade', code, status, detail, active, payerId, apiVersion: 'v2' },
    token: active === null ? presentedToken(req) : undefined,
    address: clientAddress,
    durationMs: performance.now() - beganMs,
  };
}

function presentedToken(req: IncomingMessage): string | undefined {
  try {
    return tokenOfRequest(req);
  } catch {
    return undefined;
  }
}
