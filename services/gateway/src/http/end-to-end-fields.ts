import type { IncomingHttpHeaders } from 'node:http';
import { connectionOptions, forwardsAnswerField } from './forwardable.ts';

/** The end-to-end header fields of a response that `drops` doesn't name, as a flat list. Content-Length stays. */
export function endToEndFields(
  headers: IncomingHttpHeaders,
  drops: (name: string, value: string | readonly string[]) => boolean,
): string[] {
  const { connection = [] } = headers as { connection?: string | string[] };
  const listed = connectionOptions(typeof connection === 'string' ? [connection] : connection);
  const fields: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || drops(name, value) || !forwardsAnswerField(name, listed)) continue;
    if (typeof value === 'string') fields.push(name, value);
    else for (const one of value) fields.push(name, one);
  }
  return fields;
}
