import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { contentCodings, isEventStream, isMultipart, multipartDelimiter } from './answer-fields.ts';

/** Counts the results in a response that has several: events, or the parts of a multipart response. */
export type ResultCount = {
  saw: (chunk: Buffer) => void;
  /** So far; with a content coding, of what has been decoded. */
  results: () => number;
  /** Resolves when everything that was seen is counted. */
  ended: () => Promise<void>;
};

/** Counts what decoded text contains; latin1 is enough for what separates results. */
type CountText = (text: string) => number;

const DECODERS = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** Null for a response that is one result, or in a coding that the gateway can't read. */
export function createResultCount(headers: IncomingHttpHeaders): ResultCount | null {
  const count = countOf(headers);
  if (count === null) return null;
  const [coding, another] = contentCodings(headers);
  let results = 0;
  const sawText = (chunk: Buffer) => {
    results += count(chunk.toString('latin1'));
  };
  if (coding === undefined) {
    return { saw: sawText, results: () => results, ended: () => Promise.resolve() };
  }
  const decoder = another === undefined ? DECODERS.get(coding)?.() : undefined;
  if (decoder === undefined) return null;
  // What can't be decoded ends the count; the caller can't read it either.
  const over = new Promise<void>((resolve) => {
    decoder
      .on('data', sawText)
      .once('end', resolve)
      .once('error', () => {
        resolve();
      });
  });
  return {
    saw: (chunk) => decoder.write(chunk),
    results: () => results,
    ended: () => {
      decoder.end();
      return over;
    },
  };
}

function countOf(headers: IncomingHttpHeaders): CountText | null {
  if (isEventStream(headers)) return createEventCount();
  return isMultipart(headers) ? createPartCount(multipartDelimiter(headers)) : null;
}

/** The longest start of a line that tells what it is. */
const LINE_START_LENGTH = 32;

/** Events with data (HTML, section 9.2.6), but for the one that says that nothing follows (GraphQL over SSE). */
function createEventCount(): CountText {
  let line = '';
  let hasData = false;
  let isComplete = false;
  let afterReturn = false;

  function endLine(): number {
    const [, field = '', value = ''] = /^(event|data):? ?(.*)$/.exec(line) ?? [];
    const isEnd = line === '';
    line = '';
    if (field === 'event') isComplete = value === 'complete';
    if (field === 'data' && value !== '') hasData = true;
    if (!isEnd) return 0;
    const counts = hasData && !isComplete;
    hasData = false;
    isComplete = false;
    return counts ? 1 : 0;
  }

  return (chunk) => {
    // A line end of two characters can come in two chunks.
    const text = afterReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    afterReturn = chunk.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop() ?? '';
    const take = (part: string) => {
      line += part.slice(0, LINE_START_LENGTH - line.length);
    };
    let results = 0;
    for (const part of lines) {
      take(part);
      results += endLine();
    }
    take(rest);
    return results;
  };
}

/** Parts that have begun: a delimiter's line (RFC 2046, section 5.1.1), and anything behind it. */
function createPartCount(delimiter: string): CountText {
  const opening = new RegExp(`\\n${delimiter.replaceAll(/\W/g, '\\$&')}[ \\t]*\\r?\\n(?=[^])`, 'g');
  const keptLength = delimiter.length + 4;
  let tail = '\n';
  return (chunk) => {
    const text = tail + chunk;
    let results = 0;
    let countedTo = 0;
    for (const match of text.matchAll(opening)) {
      results += 1;
      // The line end may begin another delimiter.
      countedTo = match.index + match[0].length - 1;
    }
    tail = text.slice(Math.max(countedTo, text.length - keptLength));
    return results;
  };
}
