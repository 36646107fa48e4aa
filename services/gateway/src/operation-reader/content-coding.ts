import { brotliDecompress, constants, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';

/** @throws {Problem} (the promise) payload_too_large above `maxBytes`; invalid_request */
export type Decode = (body: Buffer, maxBytes: number) => Promise<Buffer>;

type Decompress = (
  body: Buffer,
  options: { maxOutputLength: number; rejectGarbageAfterEnd: true },
) => Promise<Buffer>;

/** RFC 8878, section 3.1.1.1.2: what every decoder supports. A frame can ask for far more. */
const ZSTD_WINDOW_LOG_MAX = 23;

const zstd = promisify(zstdDecompress);

const DECOMPRESSORS = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  [
    'zstd',
    (body, options) =>
      zstd(body, { ...options, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
  ],
]);

/** Reads a body's content coding; null without one. @throws {Problem} unsupported_media_type */
export function bodyDecoder(rawHeaders: readonly string[]): Decode | null {
  const values = fieldValues(rawHeaders, 'content-encoding');
  if (values.length === 0) return null;
  const coding = values.join().trim().toLowerCase();
  if (coding === 'identity') return null;
  const decompress = DECOMPRESSORS.get(coding);
  if (decompress === undefined) {
    throw new Problem('unsupported_media_type', {
      detail: 'The content coding of the body is not supported.',
      headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
    });
  }
  return async (body, maxBytes) => {
    try {
      return await decompress(body, { maxOutputLength: maxBytes, rejectGarbageAfterEnd: true });
    } catch (cause) {
      const isTooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
      if (isTooLarge) throw new Problem('payload_too_large', { cause });
      throw new Problem('invalid_request', { detail: 'The body is not in its content coding.', cause });
    }
  };
}
