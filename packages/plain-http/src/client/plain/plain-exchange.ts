import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import type { PoolRequest } from '../pool-request.ts';
import type { ResponseHead } from './read-response.ts';

/**
 * One request and its response. undici's controller of it as well, which outlives its time on the connection. A class,
 * because one is made for every call.
 */
export class PlainExchange implements Dispatcher.DispatchController {
  readonly request: PoolRequest;
  readonly handler: Dispatcher.DispatchHandler;
  /** What is sent; null if only undici can send it. */
  readonly text: string | null;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  isOver = false;
  hasHead = false;
  #bytesToCome = 0;
  #socket: Socket | null = null;

  constructor(request: PoolRequest, handler: Dispatcher.DispatchHandler, text: string | null) {
    this.request = request;
    this.handler = handler;
    this.text = text;
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    this.aborted = true;
    this.reason = reason;
    const socket = this.#socket;
    this.fail(reason);
    socket?.destroy();
  }

  pause(): void {
    if (this.#socket === null) return;
    this.paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.#socket?.resume();
  }

  /** False if the handler doesn't want it any more: nothing was sent. */
  send(socket: Socket, text: string): boolean {
    try {
      this.handler.onRequestStart?.(this, undefined);
    } catch (error) {
      this.fail(error as Error);
    }
    if (this.isOver) return false;
    this.#socket = socket;
    socket.write(text, 'latin1');
    this.handler.onRequestSent?.();
    return true;
  }

  onHead({ status, headers, bodyBytes }: ResponseHead): void {
    this.hasHead = true;
    this.#bytesToCome = bodyBytes;
    this.handler.onResponseStart?.(this, status, headers);
  }

  /** Returns how many of these bytes are its own; no request awaits the others. */
  onBody(bytes: Buffer): number {
    const length = Math.min(bytes.length, this.#bytesToCome);
    this.#bytesToCome -= length;
    if (length > 0) {
      this.handler.onResponseData?.(this, length < bytes.length ? bytes.subarray(0, length) : bytes);
    }
    return length;
  }

  get isComplete(): boolean {
    return this.hasHead && this.#bytesToCome === 0;
  }

  /** All of the response has arrived. */
  end(): void {
    if (this.isOver) return;
    this.#leave();
    this.handler.onResponseEnd?.(this, {});
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.#leave();
    this.handler.onResponseError?.(this, error);
  }

  #leave(): void {
    this.resume();
    this.isOver = true;
    this.#socket = null;
  }
}
