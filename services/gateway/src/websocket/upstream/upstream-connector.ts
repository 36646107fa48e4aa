import { toProblem } from '@tollgate/http/problem';
import type { ConnectTrace, SocketTrace, TracedEnd } from '../../trace/socket-trace.ts';
import { passedOn } from '@tollgate/trace/context';
import { callerIds } from '../../pipeline/forward/request/request-fields.ts';
import type { Principal } from '../../ledger/principal.ts';
import type { Pausable } from '../connection/read-control.ts';
import type { Protocol } from '../protocol/protocol.ts';
import type { ChosenAddress, ChooseAddress } from './upstream-addresses.ts';
import { UpstreamSocket } from './upstream-socket.ts';
import type { UpstreamUpgrade, UpstreamClose, UpstreamEvents, UpstreamSettings } from './upstream-socket.ts';
import { upstreamUpgrade } from './upstream-upgrade.ts';
import type { UpgradeFacts } from './upstream-upgrade.ts';

/** The caller's socket, as far as its connection to the upstream depends on it. */
export type UpstreamCaller = {
  protocol: Protocol;
  facts: UpgradeFacts;
  requestId: string;
  trace: SocketTrace | null;
  /** The caller's, without its credentials. */
  initPayload: unknown;
  /** The reading of the caller, paused while the upstream doesn't read. */
  source: Pausable;
};

export type UpstreamListener = {
  onMessage: UpstreamEvents['onMessage'];
  /** Called when a connection ends that the gateway has not closed. */
  onLost: (closed: UpstreamClose & { close: NonNullable<UpstreamClose['close']> }) => void;
};

type Connection = Pick<UpstreamSocket, 'ids' | 'send' | 'checkAlive' | 'stalledMs'>;

export type Upstream = Pick<UpstreamConnector, 'pause' | 'resume' | 'isPaused' | 'resumedMs' | 'close'> & {
  readonly socket: Connection | null;
  connected: (principal: Principal, isWanted: () => boolean) => Promise<Connection>;
};

export type OpenUpstream = (caller: UpstreamCaller, listener: UpstreamListener) => Upstream;

export function createOpenUpstream(settings: UpstreamSettings, chooseAddress: ChooseAddress): OpenUpstream {
  return (caller, listener) => new UpstreamConnector(settings, chooseAddress, caller, listener);
}

const ACKNOWLEDGED: TracedEnd = { outcome: 'acknowledged', failed: false };
const LEFT: TracedEnd = { outcome: 'left', failed: false };

/** Connects one caller's socket to the upstream: one connection at a time, opened when an operation needs it. */
class UpstreamConnector {
  readonly #settings: UpstreamSettings;
  readonly #chooseAddress: ChooseAddress;
  readonly #caller: UpstreamCaller;
  readonly #listener: UpstreamListener;
  #current: { socket: UpstreamSocket; address: ChosenAddress; trace: ConnectTrace | null } | null = null;
  #paused = false;
  #resumedMs = 0;

  constructor(
    settings: UpstreamSettings,
    chooseAddress: ChooseAddress,
    caller: UpstreamCaller,
    listener: UpstreamListener,
  ) {
    this.#settings = settings;
    this.#chooseAddress = chooseAddress;
    this.#caller = caller;
    this.#listener = listener;
  }

  get socket(): UpstreamSocket | null {
    return this.#current?.socket ?? null;
  }

  /**
   * Resolves when connection_init is acknowledged. If nothing was sent, retries once, at another address if possible; a
   * single address that timed out isn't retried, because the caller would wait twice the timeout.
   * @throws {Problem} upstream_unreachable, upstream_timeout.
   */
  async connected(principal: Principal, isWanted: () => boolean): Promise<UpstreamSocket> {
    const { socket, address } = (this.#current ??= this.#connect(principal, null));
    try {
      await socket.ready;
      return socket;
    } catch (error) {
      const isInVain = address.isOnly && toProblem(error).code === 'upstream_timeout';
      if (socket.wasOpened || isInVain || !isWanted()) throw error;
    }
    const second = (this.#current ??= this.#connect(principal, address));
    await second.socket.ready;
    return second.socket;
  }

  pause(): void {
    this.#paused = true;
    this.socket?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#resumedMs = performance.now();
    this.socket?.resume();
  }

  isPaused(): boolean {
    return this.#paused;
  }

  resumedMs(): number {
    return this.#resumedMs;
  }

  close(): void {
    this.socket?.close();
    this.#current?.trace?.end(LEFT);
    this.#current = null;
  }

  #connect(principal: Principal, failed: ChosenAddress | null) {
    const { protocol, facts, requestId, initPayload } = this.#caller;
    const address = this.#chooseAddress(failed);
    const trace = this.#caller.trace?.connect(address.url, failed === null ? 1 : 2) ?? null;
    const fields = trace?.fields() ?? passedOn(null, requestId);
    const upgrade = upstreamUpgrade(address.url, facts, callerIds(principal), requestId, fields);
    const socket = this.#open({ ...upgrade, protocol, initPayload }, address, trace);
    if (this.#paused) socket.pause();
    return { socket, address, trace };
  }

  #open(upgrade: UpstreamUpgrade, address: ChosenAddress, trace: ConnectTrace | null): UpstreamSocket {
    const { onMessage, onLost } = this.#listener;
    try {
      const socket: UpstreamSocket = new UpstreamSocket(this.#settings, upgrade, this.#caller.source, {
        onMessage,
        onReady: () => {
          address.succeeded();
          trace?.end(ACKNOWLEDGED);
        },
        onClosed: (closed) => {
          address.ended(closed.how);
          trace?.end({ outcome: closed.how, failed: closed.how !== 'left' });
          if (this.socket === socket) this.#current = null;
          const { close } = closed;
          if (close !== null) onLost({ ...closed, close });
        },
      });
      return socket;
    } catch (error) {
      address.ended('left');
      trace?.end(LEFT);
      throw error;
    }
  }
}
