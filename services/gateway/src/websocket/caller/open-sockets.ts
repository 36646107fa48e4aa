import { isDeepStrictEqual } from 'node:util';
import type { Introspector } from '@tollgate/introspection';
import { toProblem } from '@tollgate/http/problem';
import type { Problem } from '@tollgate/http/problem';
import type { Entitle } from '../../entitle/entitle.ts';
import type { TokenWatch } from '../../authenticate/token-watch.ts';
import { CallerSocket } from './caller-socket.ts';
import type { CallerSocketParts, OpenedSocket } from './caller-socket-parts.ts';
import { endingOf, socketEnding } from '../ending.ts';
import { createIdentify } from './identify.ts';
import type { Identify, Identity } from './identify.ts';
import { createSocketIndex } from './socket-index.ts';
import type { SocketIndex, SocketLimits } from './socket-index.ts';

export type OpenSocketsOptions = {
  introspect: Introspector['introspect'];
  tokenWatch: Pick<TokenWatch, 'hold' | 'release' | 'revocations'>;
  entitle: Entitle;
  limits: SocketLimits;
  parts: Omit<CallerSocketParts<CallerSocket>, 'identify' | 'onIdentified'>;
  onClosed: (closeCode: number) => void;
};

export type OpenSockets = {
  identify: Identify;
  /**
   * Before a caller is asked about; `address` is where it comes from if it has shown no token, else null.
   * @throws {Problem} service_unavailable; too_many_requests for that address.
   */
  assertRoom: (address: string | null) => void;
  /** @throws {Problem} also too_many_requests where its account has too many. */
  assertRoomOf: (identity: Identity) => void;
  open: (opened: OpenedSocket) => void;
  size: () => number;
  /**
   * Closes all with 1012, each when its queries and mutations are answered; resolves when they are gone and their
   * last usage is with the settlement. One that is opened meanwhile is closed at once.
   */
  drain: (limits: { cutAfterMs: number }) => Promise<void>;
};

/** One sweep for all sockets: time limits are held to within this, and no socket has a timer. */
const SWEEP_INTERVAL_MS = 250;
/** How often each account's entitlement is looked at (it is cached). */
const ENTITLEMENT_INTERVAL_MS = 500;

const RESTART = socketEnding('service_restart');
/** Of a drain's time: until sockets that wait for nothing are closed, and until all are. The rest is for the closing. */
const SPREAD_SHARE = 0.3;
const CLOSE_SHARE = 0.7;

/** All open sockets of this gateway, and what concerns several of them. */
export function createOpenSockets(options: OpenSocketsOptions): OpenSockets {
  const { introspect, entitle, tokenWatch } = options;
  const index = createSocketIndex(options.limits);
  let draining = false;
  let whenEmpty: (() => void) | undefined;
  const identify = createIdentify({ introspect, entitle, revocations: tokenWatch.revocations });
  const parts: CallerSocketParts<CallerSocket> = { ...options.parts, identify, onIdentified };

  function onIdentified(socket: CallerSocket, identity: Identity): void {
    index.assertRoomOf(identity);
    index.identified(socket, identity);
    const { token, active, asOf } = identity;
    const end = (problem: Problem) => {
      socket.end(endingOf(problem));
    };
    tokenWatch.hold(socket, { token, active, requestId: socket.requestId, end }, asOf);
  }

  const refreshPayer = createPayerRefresh(index, entitle);
  const refreshAllPayers = atMostEvery(ENTITLEMENT_INTERVAL_MS, () => {
    for (const accountId of index.accounts()) void refreshPayer(accountId);
  });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const socket of index.all) {
      socket.tick(nowMs);
      removeIfOver(socket);
    }
    refreshAllPayers(nowMs);
  }, SWEEP_INTERVAL_MS);
  timer.unref();

  /** A caller that has gone counts for as long as the upstream works for it. */
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
    assertRoomOf: (identity) => {
      assertRoom(null);
      index.assertRoomOf(identity);
    },
    open: (opened) => {
      const socket = new CallerSocket(parts, opened);
      index.add(socket);
      opened.socket.once('close', (closeCode: number) => {
        tokenWatch.release(socket);
        options.onClosed(closeCode);
        removeIfOver(socket);
      });
      if (opened.identity !== null) onIdentified(socket, opened.identity);
      if (draining) socket.end(RESTART);
    },
    size: () => index.all.size,
    drain: async ({ cutAfterMs }) => {
      draining = true;
      const gone = new Promise<void>((resolve) => (whenEmpty = resolve));
      await closeAll(index.all, parts.settings.reconnectSpreadMs, cutAfterMs, gone);
      clearInterval(timer);
    },
  };
}

/** Closes sockets for a restart; what they wait for is waited for until shortly before all connections are cut. */
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

/** Looks at who pays for an account's sockets now; one question for each account at a time. */
function createPayerRefresh(index: SocketIndex, entitle: Entitle): (accountId: number) => Promise<void> {
  const asking = new Set<number>();
  return async (accountId) => {
    const [first] = index.ofAccount(accountId);
    if (first === undefined || asking.has(accountId)) return;
    asking.add(accountId);
    try {
      const answer = await entitle(accountId, first.requestId);
      // One object for all sockets, and the same one for as long as nothing changes: nothing is to be done then.
      const known = first.identity?.payer;
      const payer = isDeepStrictEqual(answer, known) && known !== undefined ? known : answer;
      for (const socket of index.ofAccount(accountId)) socket.refreshPayer(payer);
    } catch (error) {
      const problem = toProblem(error);
      // While account is away nobody is blocked there; what time alone changes is seen when it is back.
      if (problem.status >= 500) return;
      for (const socket of index.ofAccount(accountId)) socket.end(endingOf(problem));
    } finally {
      asking.delete(accountId);
    }
  };
}

function atMostEvery(intervalMs: number, act: () => void): (nowMs: number) => void {
  let lastMs = -Infinity;
  return (nowMs) => {
    if (nowMs - lastMs < intervalMs) return;
    lastMs = nowMs;
    act();
  };
}
