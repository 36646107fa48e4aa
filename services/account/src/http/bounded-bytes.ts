/**
 * The bytes of a body, which is broken off beyond `maxBytes`, whatever length its sender has stated.
 * @throws what `tooLong` makes, and what the body throws
 */
export async function boundedBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
