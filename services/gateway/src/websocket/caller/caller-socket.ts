import { isDeepStrictEqual } from 'node:util';
import type { WebSocket } from 'ws';
import { Problem, toProblem } from '@tollgate/http/problem';
import type { PayerEntitlement } from '../../entitle/entitle.ts';
import type { SocketTrace, TracedEnd } from '../../trace/socket-trace.ts';
import { readCallerMessage } from './caller-message.ts';
import type { CallerSocketParts, OpenedSocket } from './caller-socket-parts.ts';
import { takeToken } from './credential.ts';
import { TERMINATED, endingOf, socketEnding, tracedClose, tracedEnd } from '../ending.ts';
import type { Ending } from '../ending.ts';
import { createHeartbeat } from '../heartbeat.ts';
import type { Heartbeat } from '../heartbeat.ts';
import type { Identity } from './identify.ts';
import type { Message } from '../message.ts';
import { createMessageRate } from './message-rate.ts';
import { createOutlet } from '../outlet.ts';
import type { Outlet } from '../outlet.ts';
import { OperationRelay } from '../operations/operation-relay.ts';
import type { Protocol } from '../protocol.ts';
import { createReading } from './reading.ts';
import type { Reading } from './reading.ts';
import { refusalOfEnding } from './refusals.ts';
import { endingByTime } from './time-limits.ts';
import type { SocketPhase } from './time-limits.ts';
import type { UpgradeFacts } from '../upstream/upstream-opening.ts';

/**
 * One caller's WebSocket, from its opening to its end (ADR 0021). The upstream is connected at the first
 * operation: until then the gateway itself speaks the protocol, and an idle socket holds no connection there.
 */
export class CallerSocket {
  readonly requestId: string;
  readonly address: string;
  readonly #parts: CallerSocketParts<CallerSocket>;
  readonly #socket: WebSocket;
  readonly #protocol: Protocol;
  readonly #facts: UpgradeFacts;
  readonly #trace: SocketTrace | null;
  readonly #outlet: Outlet;
  readonly #reading: Reading;
  readonly #heartbeat: Heartbeat;
  readonly #overRate: (nowMs: number) => boolean;
  readonly #openedMs = performance.now();
  #phase: SocketPhase = 'opened';
  #identity: Identity | null;
  #initPayload: unknown;
  /** Null until the first operation: most of an idle socket's memory would be its. */
  #relay: OperationRelay | null = null;
  /** Operations that came before connection_init was acknowledged, which the older protocol allows. */
  #early: { message: Message; bytes: number }[] = [];
  /** How it is about to end: it takes no further operations. */
  #leaving: { ending: Ending; atMs: number } | null = null;
  #isClosed = false;
  #idleSinceMs = this.#openedMs;
  #pingedMs = this.#openedMs;

  constructor(parts: CallerSocketParts<CallerSocket>, opened: OpenedSocket) {
    const { socket } = opened;
    this.#parts = parts;
    this.#socket = socket;
    this.#protocol = opened.protocol;
    this.#facts = opened.facts;
    this.#trace = opened.trace;
    this.requestId = opened.requestId;
    this.address = opened.address;
    this.#identity = opened.identity;
    this.#overRate = createMessageRate(parts.settings.maxMessagesPerSec);
    this.#heartbeat = createHeartbeat(socket);
    this.#reading = createReading(socket, this.#heartbeat.seen);
    // A caller that doesn't read is asked for nothing more, and nothing more is read for it.
    this.#outlet = createOutlet(socket, parts.settings.bufferMaxBytes, {
      pause: () => {
        this.#reading.pause();
        this.#relay?.pause();
      },
      resume: () => {
        this.#reading.resume();
        this.#relay?.resume();
      },
    });
    socket.on('message', (data: Buffer, isBinary) => {
      this.#onFrame();
      if (this.#phase !== 'ended') this.#receive(data, isBinary);
    });
    socket.on('ping', this.#onFrame.bind(this));
    socket.on('pong', this.#onFrame.bind(this));
    // ws closes the socket itself for what breaks its framing: 1002, 1007, 1009.
    socket.on('error', () => undefined);
    socket.on('close', (closeCode: number) => {
      this.#isClosed = true;
      if (this.#phase !== 'ended') this.#finish(tracedClose(closeCode));
    });
  }

  /** Who is behind it; null before that is known. */
  get identity(): Identity | null {
    return this.#identity;
  }

  /** Whether it is closed, and nothing that was sent for it waits for an answer. */
  get isOver(): boolean {
    return this.#isClosed && this.#openOperations() === 0;
  }

  /** Takes a newer word on who pays. */
  refreshPayer(payer: PayerEntitlement): void {
    const identity = this.#identity;
    if (this.#phase === 'ended' || identity === null || identity.payer === payer) return;
    const isChange = !isDeepStrictEqual(identity.payer, payer);
    this.#identity = { ...identity, payer };
    if (isChange) this.#relay?.refreshPayer(this.#identity);
  }

  /** Acts on what time brings. Called a few times a second, so that no socket needs timers of its own. */
  tick(nowMs: number): void {
    if (this.#phase === 'ended') {
      this.#relay?.tick(nowMs, 0);
      return;
    }
    const ending = this.#endingByLeave(nowMs) ?? this.#endingByTime(nowMs);
    if (ending !== null) {
      this.end(ending);
      return;
    }
    if (nowMs - this.#pingedMs >= this.#parts.settings.pingIntervalMs) this.#checkAlive(nowMs);
    if (this.#openOperations() > 0) this.#idleSinceMs = nowMs;
    this.#relay?.tick(nowMs, nowMs - this.#idleSinceMs);
  }

  /** Settles, gives slots back, and closes both sides. `token` is one that was shown and isn't good. */
  end(ending: Ending, token?: string): void {
    if (this.#phase === 'ended') return;
    this.#recordEnding(ending, token);
    this.#finish(tracedEnd(ending));
    if (this.#reading.isPaused()) this.#socket.resume();
    this.#socket.close(ending.closeCode, ending.reason);
  }

  #recordEnding(ending: Ending, token: string | undefined): void {
    const { requestId, identity } = this;
    const socket = { requestId, identity, clientAddress: this.#facts.clientAddress };
    const refusal = refusalOfEnding(socket, ending, { openMs: performance.now() - this.#openedMs, token });
    if (refusal !== null) this.#parts.recordRefusal(refusal);
  }

  /**
   * Ends it within `spreadMs`, when queries and mutations that were sent are answered. Operations that come until
   * then are left to the client, which starts them again when it has come back.
   */
  endSoon(ending: Ending, spreadMs = this.#parts.settings.reconnectSpreadMs): void {
    this.#leaving ??= { ending, atMs: performance.now() + Math.random() * spreadMs };
  }

  /** Waits no longer for answers that nobody will get; they cost nothing. */
  giveUp(): void {
    this.#relay?.giveUp();
  }

  #endingByLeave(nowMs: number): Ending | null {
    if (this.#leaving === null || nowMs < this.#leaving.atMs) return null;
    return this.#relay?.hasCalls() === true ? null : this.#leaving.ending;
  }

  #endingByTime(nowMs: number): Ending | null {
    return endingByTime(this.#parts.settings, {
      tokenLeftMs: this.#identity === null ? null : this.#identity.active.expiresAtMs - nowMs,
      phase: this.#phase,
      openMs: nowMs - this.#openedMs,
      idleMs: this.#openOperations() > 0 ? 0 : nowMs - this.#idleSinceMs,
      callerStalledMs: this.#outlet.stalledMs(nowMs),
      upstreamStalledMs: this.#relay?.stalledMs(nowMs) ?? 0,
    });
  }

  #openOperations(): number {
    return this.#relay?.size ?? 0;
  }

  #checkAlive(nowMs: number): void {
    this.#pingedMs = nowMs;
    this.#relay?.checkAlive();
    // A caller that isn't being read can't be heard; how long that lasts has its own bound.
    if (this.#reading.isPaused()) return;
    if (!this.#heartbeat.beat()) return;
    if (!this.#protocol.pings && this.#phase === 'ready') this.#send({ type: 'ka' });
  }

  #send(message: object): void {
    this.#outlet.send(JSON.stringify(message));
  }

  /** Any sign of life; too many of them end the socket. */
  #onFrame(): void {
    this.#heartbeat.seen();
    if (this.#phase !== 'ended' && this.#overRate(performance.now())) {
      this.end(endingOf(new Problem('too_many_requests', { detail: 'Too many messages' })));
    }
  }

  /** All that has to happen however the socket ends. */
  #finish(end: TracedEnd): void {
    this.#phase = 'ended';
    this.#early = [];
    this.#relay?.finish(end);
    this.#trace?.closed(end);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const message = readCallerMessage(this.#protocol, data, isBinary);
    switch (message.says) {
      case 'initialise':
        void this.#initialise(message.payload);
        return;
      case 'start':
        this.#start(message.message, data.length);
        return;
      case 'stop':
        this.#stop(message.id);
        return;
      case 'ping':
        this.#send({ type: 'pong', payload: message.payload });
        return;
      case 'pong':
        return;
      case 'terminate':
        this.end(TERMINATED);
        return;
      case 'nonsense':
        this.end(endingOf(new Problem('invalid_request', { detail: message.detail })));
    }
  }

  async #initialise(payload: unknown): Promise<void> {
    if (this.#phase !== 'opened') {
      this.end(socketEnding('too_many_initialisations'));
      return;
    }
    this.#phase = 'initialising';
    let token: string | undefined;
    try {
      const taken = takeToken(payload, this.#identity?.token);
      ({ token } = taken);
      this.#initPayload = taken.rest;
      if (this.#identity === null) await this.#identify(taken.token);
      this.#becomeReady();
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) this.#parts.onFailure(this.requestId, problem, this.#facts.clientAddress);
      this.end(endingOf(problem), token);
    }
  }

  async #identify(token: string): Promise<void> {
    const { identify, onIdentified } = this.#parts;
    // Nothing more is read, and kept, of somebody unknown.
    this.#reading.pause();
    const identity = await identify(token, this.requestId, this.#trace).finally(this.#reading.resume);
    this.#trace?.identified();
    if (this.#phase === 'ended') return;
    this.#identity = identity;
    onIdentified(this, identity);
  }

  #becomeReady(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ready';
    this.#idleSinceMs = performance.now();
    this.#send({ type: 'connection_ack' });
    // Without a first one clients of the older protocol don't expect any.
    if (!this.#protocol.pings) this.#send({ type: 'ka' });
    for (const { message, bytes } of this.#early.splice(0)) this.#start(message, bytes);
  }

  #start(message: Message, bytes: number): void {
    const identity = this.#identity;
    if (this.#leaving !== null) return;
    if (this.#phase === 'ready' && identity !== null) {
      this.#relay ??= this.#openRelay(identity);
      this.#relay.start(message, bytes);
    } else if (this.#phase === 'initialising' && this.#protocol.startsEarly) {
      this.#keepForLater(message, bytes);
    } else this.end(endingOf(new Problem('unauthorized', { detail: 'There was no connection_init' })));
  }

  #openRelay(identity: Identity): OperationRelay {
    const relay = new OperationRelay(this.#parts, {
      protocol: this.#protocol,
      facts: this.#facts,
      requestId: this.requestId,
      trace: this.#trace,
      initPayload: this.#initPayload,
      identity,
      toCaller: this.#outlet,
      caller: this.#reading,
      end: this.end.bind(this),
      endSoon: this.endSoon.bind(this),
    });
    if (this.#outlet.stalledMs(performance.now()) > 0) relay.pause();
    return relay;
  }

  #keepForLater(message: Message, bytes: number): void {
    if (this.#early.length < this.#parts.settings.maxOperations) this.#early.push({ message, bytes });
    else this.end(endingOf(new Problem('too_many_requests', { detail: 'Too many operations' })));
  }

  #stop(id: string | undefined): void {
    this.#early = this.#early.filter(({ message }) => message.id !== id);
    this.#relay?.stop(id);
  }
}
