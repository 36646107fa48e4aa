import type { IncomingHttpHeaders } from 'node:http';
import type { Problem } from '@tollgate/http/problem';
import { contentCodings, isEventStream, isSubscriptionStream, multipartDelimiter } from './answer-fields.ts';
import { graphqlError } from '../../../http/graphql-error.ts';

/** Follows an open stream, so that its last event can say why it ends. */
export type StreamEnding = {
  saw: (chunk: Buffer) => void;
  /** The last event; empty where none can be read; undefined within an event, as a parser would take both for one. */
  lastPart: (why: Problem, requestId: string) => string | undefined;
};

/** A delimiter of up to 70 characters (RFC 2046, section 5.1.1), with dashes and line ends. */
const TAIL_LENGTH = 80;

/** `tail` is the end of what has been sent. */
type Ending = (tail: string, errors: readonly object[]) => string | undefined;

/** Undefined for a stream in an unknown format. One in a content coding, which the gateway can't write, just ends. */
export function createStreamEnding(headers: IncomingHttpHeaders): StreamEnding | undefined {
  const ending = endingOf(headers);
  if (ending === undefined) return undefined;
  if (contentCodings(headers).length > 0) return { saw: () => undefined, lastPart: () => '' };
  let tail = '';
  return {
    saw: (chunk) => {
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - TAIL_LENGTH))).slice(-TAIL_LENGTH);
    },
    lastPart: (why, requestId) => ending(tail, [graphqlError(why, requestId)]),
  };
}

function endingOf(headers: IncomingHttpHeaders): Ending | undefined {
  if (isEventStream(headers)) return endEvents;
  return isSubscriptionStream(headers) ? endParts(multipartDelimiter(headers)) : undefined;
}

/** An empty line ends an event, with any of three line ends (HTML, section 9.2.5). */
const AFTER_EVENT = /(?:^|\n\n|\r\r|\n\r|\n\r\n|\r\r\n)$/;

/** GraphQL over Server-Sent Events, distinct connections mode. */
const endEvents: Ending = (tail, errors) =>
  AFTER_EVENT.test(tail)
    ? `event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`
    : undefined;

/** The multipart protocol for subscriptions: errors beside a null payload are transport errors. */
function endParts(delimiter: string): Ending {
  return (tail, errors) => {
    const open = openingAfter(tail, delimiter);
    if (open === undefined) return undefined;
    const document = JSON.stringify({ payload: null, errors });
    return `${open}content-type: application/json\r\n\r\n${document}\r\n${delimiter}--\r\n`;
  };
}

/** Servers send the delimiter after each part, with or without its line end. */
function openingAfter(tail: string, delimiter: string): string | undefined {
  if (tail === '') return `${delimiter}\r\n`;
  const isAtDelimiter = (line: string) => tail === line || tail.endsWith(`\r\n${line}`);
  if (isAtDelimiter(delimiter)) return '\r\n';
  return isAtDelimiter(`${delimiter}\r\n`) ? '' : undefined;
}
