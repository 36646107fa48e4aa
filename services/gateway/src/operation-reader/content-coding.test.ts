import { expect, test } from '@jest/globals';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Problem } from '@tollgate/http/problem';
import { bodyDecoder } from './content-coding.ts';

const MAX_BYTES = 1_000_000;

const codings = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;

test.each(codings)(
  'what is decoded from %s takes room as it comes, and no more',
  async (coding, compress) => {
    const decode = bodyDecoder(['content-encoding', coding]);
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, index) => String(index)).join());
    const lengths: number[] = [];
    const note = (bytes: number) => {
      lengths.push(bytes);
    };
    expect((await decode?.(compress(body), MAX_BYTES, note))?.equals(body)).toBe(true);
    expect(lengths.length).toBeGreaterThan(1);
    expect(lengths.at(-1)).toBe(body.length);
  },
);

test.each(codings)('%s is decoded no further where there is no room', async (coding, compress) => {
  const decode = bodyDecoder(['content-encoding', coding]);
  const refusal = new Problem('too_many_requests');
  let decoded = 0;
  const take = (bytes: number) => {
    decoded = bytes;
    if (bytes > 50_000) throw refusal;
  };
  await expect(decode?.(compress(Buffer.alloc(MAX_BYTES)), MAX_BYTES, take)).rejects.toBe(refusal);
  expect(decoded).toBeLessThan(MAX_BYTES / 4);
});
