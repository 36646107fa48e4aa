import { buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql';
import type { IntrospectionQuery } from 'graphql';
import { fileText } from '../operation-reader/file-text.ts';
import type { ReadText } from '../operation-reader/file-text.ts';

const TIMEOUT_MS = 5_000;

/** `location` is a file, a URL, or `introspect`, which asks the upstream. */
export function schemaText(location: string, upstreamUrl: string): ReadText {
  if (location === 'introspect') return introspected(upstreamUrl);
  return /^https?:\/\//.test(location) ? fetched(location) : fileText(location);
}

function fetched(url: string): ReadText {
  let known: { etag: string | null; text: string } | undefined;
  return async () => {
    const etag = known?.etag ?? null;
    const headers = etag === null ? {} : { 'if-none-match': etag };
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (known !== undefined && answer.status === 304) return known.text;
    if (!answer.ok) throw new Error(`${new URL(url).origin} answered with status ${String(answer.status)}`);
    known = { etag: answer.headers.get('etag'), text: await answer.text() };
    return known.text;
  };
}

/** Introspection doesn't tell directives, so the weights have to come from a file. */
function introspected(url: string): ReadText {
  let known: { answer: string; sdl: string } | undefined;
  return async () => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: getIntrospectionQuery({ descriptions: false }) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!answer.ok)
      throw new Error(`the upstream answered the introspection query with status ${String(answer.status)}`);
    const text = await answer.text();
    // Building and printing a large schema takes a tenth of a second.
    if (known?.answer === text) return known.sdl;
    const { data } = JSON.parse(text) as { data?: IntrospectionQuery | null };
    if (!data) throw new Error('the upstream did not answer the introspection query');
    known = { answer: text, sdl: printSchema(buildClientSchema(data, { assumeValid: true })) };
    return known.sdl;
  };
}
