/** One range of an Accept header, in lower case; `quality` is 1 if it states none (RFC 9110, section 12.5.1). */
export type MediaRange = { type: string; quality: number };

/** The ranges of an Accept header, in its order. */
export function mediaRanges(accept: string): MediaRange[] {
  return accept
    .toLowerCase()
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { type, quality: weight === undefined ? 1 : Number(weight) };
    });
}
