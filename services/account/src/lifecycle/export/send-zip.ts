import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ZipWriter } from '@zip.js/zip.js/index-native.js';
import type { ZipEntry } from './export-file.ts';

/** A client that reads nothing for this time is gone. */
const STALL_MS = 30_000;

/**
 * Writes a zip while its entries are read. The end of the zip is written last, so that a download which is cut off
 * can't be opened. The caller ends the response. @throws what reading throws, or the signal's reason
 */
export async function sendZip(
  res: ServerResponse,
  entries: readonly ZipEntry[],
  signal: AbortSignal,
): Promise<void> {
  const zip = new ZipWriter(responseSink(res, signal), { useWebWorkers: false });
  for (const { name, chunks } of entries) {
    await zip.add(name, encoded(chunks, signal));
  }
  await zip.close();
}

/** Waits until the client has read. */
function responseSink(res: ServerResponse, signal: AbortSignal): WritableStream<Uint8Array> {
  return new WritableStream({
    write: async (chunk) => {
      signal.throwIfAborted();
      if (res.write(chunk)) return;
      await once(res, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)]) });
    },
  });
}

function encoded(chunks: AsyncIterable<string>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      signal.throwIfAborted();
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
  });
}
