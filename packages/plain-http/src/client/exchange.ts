import type { Dispatcher } from 'undici';
import type { HttpPool, PoolRequest } from './http-pool.ts';

export type Exchanged = { status: number; text: string };

/**
 * A request whose whole response is wanted, within a time that includes the wait for a connection. A stream for
 * each body and AbortSignal.timeout, with an abort event for each request long after its end, would take nearly twice
 * the CPU time.
 */
export function exchange(pool: HttpPool, request: PoolRequest, timeoutMs: number): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let overdue: Error | undefined;
    let status = 0;
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      overdue = new Error(`no response within ${String(timeoutMs)} ms`);
      controller?.abort(overdue);
      stopWaiting?.();
      reject(overdue);
    }, timeoutMs);
    const stopWaiting = pool.dispatch(request, {
      onRequestStart: (started) => {
        controller = started;
        // It waited for its connection to open until now.
        if (overdue !== undefined) started.abort(overdue);
      },
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk);
      },
      onResponseEnd: () => {
        clearTimeout(timer);
        resolve({ status, text: Buffer.concat(chunks).toString() });
      },
      onResponseError: (_controller, error) => {
        clearTimeout(timer);
        reject(error);
      },
    });
  });
}
