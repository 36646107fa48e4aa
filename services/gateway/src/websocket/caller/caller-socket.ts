import type { WebSocket } from 'ws';
import { Problem, toProblem } from '@tollgate/http/problem';
import type { PayerEntitlement, Principal } from '../../ledger/principal.ts';
import type { SocketTrace, TracedEnd } from '../../trace/socket-trace.ts';
import { readCallerMessage } from './caller-message.ts';
import type { CallerSocketOptions, UpgradedSocket } from './caller-socket-options.ts';
import { takeToken } from './credential.ts';
import { TERMINATED, closeFor, gatewayClose, tracedClose, tracedEnd } from '../protocol/close-codes.ts';
import type { SocketClose } from '../protocol/close-codes.ts';
import { createHeartbeat } from '../connection/heartbeat.ts';
import type { Heartbeat } from '../connection/heartbeat.ts';
import type { SocketPrincipal } from './identify.ts';
import type { Message } from '../protocol/message.ts';
import { createMessageRate } from './message-rate.ts';
import { createSendBuffer } from '../connection/send-buffer.ts';
import type { SendBuffer } from '../connection/send-buffer.ts';
import type { SocketOperations } from '../operations/socket-operations.ts';
import type { Protocol } from '../protocol/protocol.ts';
import { createReadControl } from '../connection/read-control.ts';
import type { ReadControl } from '../connection/read-control.ts';
import { refusalOfClose, refusalOfOperation } from './refusals.ts';
import { closeByTime } from './time-limits.ts';
import type { SocketPhase } from './time-limits.ts';
import type { UpgradeFacts } from '../upstream/upstream-upgrade.ts';

/** One caller's WebSocket (docs/design/sockets.md); an idle one holds no upstream connection. */
export class CallerSocket {
  readonly requestId: string;
  readonly address: string;
  readonly #options: CallerSocketOptions<CallerSocket>;
  readonly #socket: WebSocket;
  readonly #protocol: Protocol;
  readonly #facts: UpgradeFacts;
  readonly #trace: SocketTrace | null;
  readonly #sendBuffer: SendBuffer;
  readonly #readControl: ReadControl;
  readonly #heartbeat: Heartbeat;
  readonly #overRate: (nowMs: number) => boolean;
  readonly #openedMs = performance.now();
  #phase: SocketPhase = 'opened';
  #principal: SocketPrincipal | null;
  #initPayload: unknown;
  /** Null until the first operation, because it takes most of a socket's memory. */
  #operations: SocketOperations | null = null;
  /** Operations from before the acknowledgement of connection_init, which the older protocol allows. */
  #early: { message: Message; bytes: number }[] = [];
  #pendingClose: { close: SocketClose; atMs: number } | null = null;
  #isClosed = false;
  #idleSinceMs = this.#openedMs;
  #pingedMs = this.#openedMs;

  constructor(options: CallerSocketOptions<CallerSocket>, opened: UpgradedSocket) {
    const { socket } = opened;
    this.#options = options;
    this.#socket = socket;
    this.#protocol = opened.protocol;
    this.#facts = opened.facts;
    this.#trace = opened.trace;
    this.requestId = opened.requestId;
    this.address = opened.address;
    this.#principal = opened.principal;
    this.#overRate = createMessageRate(options.settings.maxMessagesPerSec);
    this.#heartbeat = createHeartbeat(socket);
    this.#readControl = createReadControl(socket, this.#heartbeat.seen);
    // While a caller doesn't read, neither it nor its upstream connection is read.
    this.#sendBuffer = createSendBuffer(socket, options.settings.bufferMaxBytes, {
      pause: () => {
        this.#readControl.pause();
        this.#operations?.pause();
      },
      resume: () => {
        this.#readControl.resume();
        this.#operations?.resume();
      },
    });
    socket.on('message', (data: Buffer, isBinary) => {
      this.#onFrame();
      if (this.#phase !== 'ended') this.#receive(data, isBinary);
    });
    socket.on('ping', this.#onFrame.bind(this));
    socket.on('pong', this.#onFrame.bind(this));
    // ws itself closes sockets with broken framing: 1002, 1007, 1008, 1009.
    socket.on('error', () => undefined);
    socket.on('close', (closeCode: number) => {
      this.#isClosed = true;
      if (this.#phase !== 'ended') this.#finish(tracedClose(closeCode));
    });
  }

  get principal(): SocketPrincipal | null {
    return this.#principal;
  }

  get isOver(): boolean {
    return this.#isClosed && this.#openCount() === 0;
  }

  refreshPayer(payer: PayerEntitlement): void {
    const principal = this.#principal;
    if (this.#phase === 'ended' || principal === null || principal.payer === payer) return;
    this.#principal = { ...principal, payer };
    this.#operations?.refreshPayer(payer);
  }

  tick(nowMs: number): void {
    if (this.#phase === 'ended') {
      this.#operations?.tick(nowMs, 0);
      return;
    }
    const close = this.#pendingCloseDue(nowMs) ?? this.#closeByTime(nowMs);
    if (close !== null) {
      this.end(close);
      return;
    }
    if (nowMs - this.#pingedMs >= this.#options.settings.pingIntervalMs) this.#checkAlive(nowMs);
    if (this.#openCount() > 0) this.#idleSinceMs = nowMs;
    this.#operations?.tick(nowMs, nowMs - this.#idleSinceMs);
  }

  /** Settles, releases slots, and closes both sides. `token` is one that was shown and refused. */
  end(close: SocketClose, token?: string): void {
    if (this.#phase === 'ended') return;
    this.#recordClose(close, token);
    this.#finish(tracedEnd(close));
    if (this.#readControl.isPaused()) this.#socket.resume();
    this.#socket.close(close.closeCode, close.reason);
  }

  #recordClose(close: SocketClose, token: string | undefined): void {
    const openMs = performance.now() - this.#openedMs;
    const refusal = refusalOfClose(this.#refusedSocket(), close, { openMs, token });
    if (refusal !== null) this.#options.reports.recordRefusal(refusal);
  }

  #refusedSocket() {
    const { requestId, principal } = this;
    return { requestId, principal, clientAddress: this.#facts.clientAddress };
  }

  #logFailure(problem: Problem): void {
    this.#options.reports.logFailure(this.requestId, problem, this.#facts.clientAddress);
  }

  /** Closes within `spreadMs`, after sent calls are answered; clients repeat later operations when they reconnect. */
  endSoon(close: SocketClose, spreadMs = this.#options.settings.reconnectSpreadMs): void {
    this.#pendingClose ??= { close, atMs: performance.now() + Math.random() * spreadMs };
  }

  giveUp(): void {
    this.#operations?.giveUp();
  }

  #pendingCloseDue(nowMs: number): SocketClose | null {
    if (this.#pendingClose === null || nowMs < this.#pendingClose.atMs) return null;
    return this.#operations?.hasCalls() === true ? null : this.#pendingClose.close;
  }

  #closeByTime(nowMs: number): SocketClose | null {
    return closeByTime(this.#options.settings, {
      tokenLeftMs: this.#principal === null ? null : this.#principal.token.expiresAtMs - nowMs,
      phase: this.#phase,
      openMs: nowMs - this.#openedMs,
      idleMs: this.#openCount() > 0 ? 0 : nowMs - this.#idleSinceMs,
      callerStalledMs: this.#sendBuffer.stalledMs(nowMs),
      upstreamStalledMs: this.#operations?.stalledMs(nowMs) ?? 0,
    });
  }

  #openCount(): number {
    return this.#operations?.size ?? 0;
  }

  #checkAlive(nowMs: number): void {
    this.#pingedMs = nowMs;
    this.#operations?.checkAlive();
    // The pong of a caller that isn't read wouldn't arrive; stalls have a time limit of their own.
    if (this.#readControl.isPaused()) return;
    if (!this.#heartbeat.beat()) return;
    if (!this.#protocol.pings && this.#phase === 'ready') this.#send({ type: 'ka' });
  }

  #send(message: object): void {
    this.#sendBuffer.send(JSON.stringify(message));
  }

  #onFrame(): void {
    this.#heartbeat.seen();
    if (this.#phase !== 'ended' && this.#overRate(performance.now())) {
      this.end(closeFor(new Problem('too_many_requests', { detail: 'Too many messages' })));
    }
  }

  #finish(end: TracedEnd): void {
    this.#phase = 'ended';
    this.#early = [];
    this.#operations?.finish(end);
    this.#trace?.closed(end);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const message = readCallerMessage(this.#protocol, data, isBinary);
    switch (message.kind) {
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
      case 'invalid':
        this.end(closeFor(new Problem('invalid_request', { detail: message.detail })));
    }
  }

  async #initialise(payload: unknown): Promise<void> {
    if (this.#phase !== 'opened') {
      this.end(gatewayClose('too_many_initialisations'));
      return;
    }
    this.#phase = 'initialising';
    let token: string | undefined;
    try {
      const taken = takeToken(payload, this.#principal?.bearerToken);
      ({ token } = taken);
      this.#initPayload = taken.rest;
      if (this.#principal === null) await this.#identify(taken.token);
      this.#becomeReady();
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status >= 500) this.#logFailure(problem);
      this.end(closeFor(problem), token);
    }
  }

  async #identify(token: string): Promise<void> {
    const { identify, onIdentified } = this.#options;
    // Messages of an unauthenticated caller must not fill the memory.
    this.#readControl.pause();
    const principal = await identify(token, this.requestId, this.#trace).finally(this.#readControl.resume);
    this.#trace?.identified();
    if (this.#phase === 'ended') return;
    this.#principal = principal;
    onIdentified(this, principal);
  }

  #becomeReady(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ready';
    this.#idleSinceMs = performance.now();
    const { pointsPerMinute, pointsExtension } = this.#options.settings.price;
    const payload = { subscription_points_per_minute: pointsPerMinute, points_extension: pointsExtension };
    this.#send({ type: 'connection_ack', payload });
    // Clients of the older protocol expect `ka` only after a first one.
    if (!this.#protocol.pings) this.#send({ type: 'ka' });
    for (const { message, bytes } of this.#early.splice(0)) this.#start(message, bytes);
  }

  #start(message: Message, bytes: number): void {
    const principal = this.#principal;
    if (this.#pendingClose !== null) return;
    if (this.#phase === 'ready' && principal !== null) {
      this.#operations ??= this.#openOperations(principal);
      this.#operations.start(message, bytes);
    } else if (this.#phase === 'initialising' && this.#protocol.startsEarly) {
      this.#keepForLater(message, bytes);
    } else this.end(closeFor(new Problem('unauthorized', { detail: 'No connection_init was received' })));
  }

  #openOperations(principal: Principal): SocketOperations {
    const operations = this.#options.openOperations({
      protocol: this.#protocol,
      facts: this.#facts,
      requestId: this.requestId,
      trace: this.#trace,
      initPayload: this.#initPayload,
      principal,
      source: this.#readControl,
      send: this.#sendBuffer.send,
      end: this.end.bind(this),
      endSoon: this.endSoon.bind(this),
      onFailure: this.#logFailure.bind(this),
      onRefused: (problem, operation) => {
        this.#options.reports.recordRefusal(refusalOfOperation(this.#refusedSocket(), problem, operation));
      },
    });
    if (this.#sendBuffer.stalledMs(performance.now()) > 0) operations.pause();
    return operations;
  }

  #keepForLater(message: Message, bytes: number): void {
    if (this.#early.length < this.#options.settings.maxOperations) this.#early.push({ message, bytes });
    else this.end(closeFor(new Problem('too_many_requests', { detail: 'Too many operations' })));
  }

  #stop(id: string | undefined): void {
    this.#early = this.#early.filter(({ message }) => message.id !== id);
    this.#operations?.stop(id);
  }
}
