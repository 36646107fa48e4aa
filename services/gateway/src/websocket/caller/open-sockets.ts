import { isDeepStrictEqual } from 'node:util';
import type { Introspector } from '@tollgate/introspection';
import { toProblem } from '@tollgate/http/problem';
import type { Problem } from '@tollgate/http/problem';
import type { Entitle } from '../../pipeline/entitle/entitle.ts';
import { createSweep } from '../../pipeline/authenticate/sweep.ts';
import type { TokenWatch } from '../../pipeline/authenticate/token-watch.ts';
import { CallerSocket } from './caller-socket.ts';
import type { CallerSocketOptions, UpgradedSocket } from './caller-socket-options.ts';
import { closeFor, gatewayClose } from '../protocol/close-codes.ts';
import { createIdentify } from './identify.ts';
import type { Identify, SocketPrincipal } from './identify.ts';
import { createSocketIndex } from './socket-index.ts';
import type { SocketIndex, SocketLimits } from './socket-index.ts';

export type OpenSocketsOptions = {
  introspect: Introspector['introspect'];
  tokenWatch: Pick<TokenWatch, 'hold' | 'release' | 'revocations'>;
  entitle: Entitle;
  limits: SocketLimits;
  socket: Pick<CallerSocketOptions<CallerSocket>, 'settings' | 'openOperations' | 'reports'>;
  onClosed: (closeCode: number) => void;
};

export type OpenSockets = {
  identify: Identify;
  /** Before identification; null if there is a token. @throws {Problem} service_unavailable, too_many_requests. */
  assertRoom: (address: string | null) => void;
  /** @throws {Problem} also too_many_requests if the account has too many. */
  assertRoomOf: (principal: SocketPrincipal) => void;
  open: (opened: UpgradedSocket) => void;
  size: () => number;
  /** Closes each socket with 1012 once its calls are answered; resolves when all are closed and usage is queued. */
  drain: (limits: { cutAfterMs: number }) => Promise<void>;
};

/** The precision of all time limits: one sweep for all sockets, so that none needs a timer. */
const SWEEP_INTERVAL_MS = 250;
const ENTITLEMENT_INTERVAL_MS = 500;

const RESTART = gatewayClose('service_restart');
/** Shares of a drain's time: until sockets without calls are closed, and until all are. The rest is for closing. */
const SPREAD_SHARE = 0.3;
const CLOSE_SHARE = 0.7;

export function createOpenSockets(options: OpenSocketsOptions): OpenSockets {
  const { introspect, entitle, tokenWatch } = options;
  const index = createSocketIndex(options.limits);
  let draining = false;
  let whenEmpty: (() => void) | undefined;
  const identify = createIdentify({ introspect, entitle, revocations: tokenWatch.revocations });
  const socketOptions: CallerSocketOptions<CallerSocket> = { ...options.socket, identify, onIdentified };

  function onIdentified(socket: CallerSocket, principal: SocketPrincipal): void {
    index.assertRoomOf(principal);
    index.identified(socket, principal);
    const { token, bearerToken, revocationsSeen } = principal;
    const end = (problem: Problem) => {
      socket.end(closeFor(problem));
    };
    const use = { token: bearerToken, active: token, requestId: socket.requestId, end };
    tokenWatch.hold(socket, use, revocationsSeen);
  }

  /** Others of its account may have been upgraded since its own check: it is a WebSocket by now, and closed as one. */
  function identifiedOrEnded(socket: CallerSocket, principal: SocketPrincipal): void {
    try {
      onIdentified(socket, principal);
    } catch (error) {
      socket.end(closeFor(toProblem(error)));
    }
  }

  const refreshPayer = createPayerRefresh(index, entitle);
  const refreshAllPayers = atMostEvery(ENTITLEMENT_INTERVAL_MS, () => {
    for (const accountId of index.accounts()) void refreshPayer(accountId);
  });
  const sweep = createSweep(SWEEP_INTERVAL_MS, () => {
    const nowMs = performance.now();
    for (const socket of index.all) {
      socket.tick(nowMs);
      removeIfOver(socket);
    }
    refreshAllPayers(nowMs);
    return index.all.size > 0;
  });

  /** A caller that has gone counts while the upstream works for it. */
  function removeIfOver(socket: CallerSocket): void {
    if (!socket.isOver || !index.all.has(socket)) return;
    index.remove(socket);
    if (index.all.size === 0) whenEmpty?.();
  }

  function assertRoom(address: string | null): void {
    index.assertRoom();
    if (address !== null) index.assertRoomAt(address);
  }

  return {
    identify,
    assertRoom,
    assertRoomOf: (principal) => {
      assertRoom(null);
      index.assertRoomOf(principal);
    },
    open: (opened) => {
      const socket = new CallerSocket(socketOptions, opened);
      index.add(socket);
      sweep.start();
      opened.socket.once('close', (closeCode: number) => {
        tokenWatch.release(socket);
        options.onClosed(closeCode);
        removeIfOver(socket);
      });
      if (opened.principal !== null) identifiedOrEnded(socket, opened.principal);
      if (draining) socket.end(RESTART);
    },
    size: () => index.all.size,
    drain: async ({ cutAfterMs }) => {
      draining = true;
      const gone = new Promise<void>((resolve) => (whenEmpty = resolve));
      await closeAll(index.all, options.socket.settings.reconnectSpreadMs, cutAfterMs, gone);
      sweep.stop();
    },
  };
}

/** Closes sockets for a restart, and waits for their calls until shortly before all connections are cut. */
async function closeAll(
  sockets: ReadonlySet<CallerSocket>,
  spreadMs: number,
  cutAfterMs: number,
  gone: Promise<void>,
): Promise<void> {
  if (sockets.size === 0) return;
  for (const socket of sockets) socket.endSoon(RESTART, Math.min(spreadMs, cutAfterMs * SPREAD_SHARE));
  const close = setTimeout(() => {
    for (const socket of sockets) socket.end(RESTART);
  }, cutAfterMs * CLOSE_SHARE);
  const giveUp = setTimeout(() => {
    for (const socket of sockets) socket.giveUp();
  }, cutAfterMs);
  await gone;
  clearTimeout(close);
  clearTimeout(giveUp);
}

function createPayerRefresh(index: SocketIndex, entitle: Entitle): (accountId: number) => Promise<void> {
  const pending = new Set<number>();

  async function refresh(sockets: () => readonly CallerSocket[]): Promise<void> {
    const [first] = sockets();
    if (first === undefined || first.principal === null) return;
    try {
      const answer = await entitle(first.principal.token, first.requestId);
      // They share one object, the same while nothing changes, so that refreshPayer returns at once.
      const known = first.principal.payer;
      const payer = isDeepStrictEqual(answer, known) ? known : answer;
      for (const socket of sockets()) socket.refreshPayer(payer);
    } catch (error) {
      const problem = toProblem(error);
      // While account is away, nothing can be blocked there; expired periods are noticed when it is back.
      if (problem.status >= 500) return;
      for (const socket of sockets()) socket.end(closeFor(problem));
    }
  }

  return async (accountId) => {
    if (pending.has(accountId)) return;
    pending.add(accountId);
    // An application may have a budget of its own.
    const applications = new Set(index.ofAccount(accountId).map(applicationOf));
    const socketsOf = (application: number | undefined) => () =>
      index.ofAccount(accountId).filter((socket) => applicationOf(socket) === application);
    await Promise.all([...applications].map((application) => refresh(socketsOf(application))));
    pending.delete(accountId);
  };
}

function applicationOf({ principal }: CallerSocket): number | undefined {
  return principal?.token.application_id;
}

function atMostEvery(intervalMs: number, act: () => void): (nowMs: number) => void {
  let lastMs = -Infinity;
  return (nowMs) => {
    if (nowMs - lastMs < intervalMs) return;
    lastMs = nowMs;
    act();
  };
}
