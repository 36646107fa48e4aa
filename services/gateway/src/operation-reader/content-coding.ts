import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import type { Transform } from 'node:stream';
import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';

/**
 * `onLength` is told with each piece how many bytes are decoded, so that they take room before all of them are in memory.
 * @throws {Problem} (the promise) payload_too_large above `maxBytes`; invalid_request; what `onLength` throws
 */
export type Decode = (body: Buffer, maxBytes: number, onLength: (bytes: number) => void) => Promise<Buffer>;

/** RFC 8878, section 3.1.1.1.2: what every decoder supports. A frame can ask for far more. */
const ZSTD_WINDOW_LOG_MAX = 23;

const OPTIONS = { rejectGarbageAfterEnd: true };

const DECODERS = new Map<string, () => Transform>([
  ['gzip', () => createGunzip(OPTIONS)],
  ['x-gzip', () => createGunzip(OPTIONS)],
  ['deflate', () => createInflate(OPTIONS)],
  ['br', () => createBrotliDecompress(OPTIONS)],
  [
    'zstd',
    () =>
      createZstdDecompress({
        ...OPTIONS,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      }),
  ],
]);

/** Reads a body's content coding; null without one. @throws {Problem} unsupported_media_type */
export function bodyDecoder(rawHeaders: readonly string[]): Decode | null {
  const values = fieldValues(rawHeaders, 'content-encoding');
  if (values.length === 0) return null;
  const coding = values.join().trim().toLowerCase();
  if (coding === 'identity') return null;
  const createDecoder = DECODERS.get(coding);
  if (createDecoder === undefined) {
    throw new Problem('unsupported_media_type', {
      detail: 'The content coding of the body is not supported.',
      headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
    });
  }
  return async (body, maxBytes, onLength) => {
    try {
      return await decoded(createDecoder(), body, (bytes) => {
        if (bytes > maxBytes) throw new Problem('payload_too_large');
        onLength(bytes);
      });
    } catch (cause) {
      if (cause instanceof Problem) throw cause;
      throw new Problem('invalid_request', { detail: 'The body is not in its content coding.', cause });
    }
  };
}

function decoded(decoder: Transform, body: Buffer, onLength: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    decoder
      .on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        try {
          onLength(bytes);
        } catch (error) {
          decoder.destroy(error as Error);
        }
      })
      .once('end', () => {
        resolve(Buffer.concat(pieces, bytes));
      })
      .once('error', reject)
      .end(body);
  });
}
