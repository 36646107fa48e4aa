import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Response } from 'express';
import { endWithCaller } from '@tollgate/http/end-with-caller';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { endToEndFields } from '../http/end-to-end-fields.ts';
import { guardAgainstSlowReader } from '../http/slow-reader.ts';

type Controller = Dispatcher.DispatchController;

export type PeerAnswerOptions = {
  /** Header fields of the peer that the gateway replaces. */
  dropped: ReadonlySet<string>;
  /** See guardAgainstSlowReader. */
  slowReaderMs: number;
  /** Called if the peer has given no answer; nothing was sent to the caller. */
  failed: (cause: Error) => void;
};

/** Passes a peer's answer on as it arrives, with back-pressure; one that breaks off is cut for the caller, too. */
export class PeerAnswer implements Dispatcher.DispatchHandler {
  readonly #res: Response;
  readonly #options: PeerAnswerOptions;
  #controller: Controller | undefined;
  #hasBegun = false;

  constructor(res: Response, options: PeerAnswerOptions) {
    this.#res = res;
    this.#options = options;
    res.once('close', () => {
      if (!res.writableEnded) this.#controller?.abort(new Error('the caller has gone'));
    });
  }

  onRequestStart(controller: Controller): void {
    // An abort would cost the pool its connection.
    if (this.#res.destroyed) throw new Error('the caller has gone');
    this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#hasBegun = true;
    if (String(headers['content-type']).startsWith('text/event-stream')) endWithCaller(this.#res);
    this.#res.writeHead(
      status,
      endToEndFields(headers, (name) => this.#options.dropped.has(name)),
    );
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const res = this.#res;
    if (res.writableEnded || res.write(chunk)) return;
    this.#guard();
    controller.pause();
    res.once('drain', () => {
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#res.end();
    if (this.#res.writableLength > 0) this.#guard();
  }

  onResponseError(_controller: Controller, error: Error): void {
    const res = this.#res;
    if (!this.#hasBegun) this.#options.failed(error);
    else if (!res.destroyed && !res.writableEnded) cutAnswer(res);
  }

  /** No connection has become free in time. */
  giveUpWaiting(): void {
    if (this.#controller === undefined) this.#options.failed(new Error('all connections stay in use'));
  }

  /** Ends an answer under way as if it were complete: only for one that may end anywhere. */
  end(): void {
    if (!this.#hasBegun) return;
    this.#res.end();
    this.#controller?.abort(new Error('the gateway shuts down'));
  }

  #guard(): void {
    guardAgainstSlowReader(this.#res, this.#options.slowReaderMs, () => {
      cutAnswer(this.#res);
      // Without a socket, the response is never closed.
      this.#controller?.abort(new Error('the caller reads too slowly'));
    });
  }
}
