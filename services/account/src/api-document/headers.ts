import type { oas31 } from 'zod-openapi';

type Headers = Record<string, oas31.HeaderObject | oas31.ReferenceObject>;

const ref = (name: string) => ({ $ref: `#/components/headers/${name}` });

/** Those that many answers have. */
export const HEADERS = {
  'X-Request-Id': headerObject('Names the request in the logs.'),
  'No-Store': headerObject('`no-store`.'),
  'Retry-After': headerObject('Seconds until it may be tried again.'),
};

/** Response headers that an answer always has, from what they hold; with the one that all answers have. */
export function headersOf(held: Readonly<Record<string, string>>): Headers {
  const own = Object.entries(held).map(([name, description]) => [name, headerObject(description)] as const);
  return { 'X-Request-Id': ref('X-Request-Id'), ...Object.fromEntries(own) };
}

/** Those of a problem+json. */
export function problemHeaders(status: number): Headers {
  return {
    ...headersOf(status === 401 ? { 'WWW-Authenticate': 'The challenge (RFC 6750).' } : {}),
    'Cache-Control': ref('No-Store'),
    ...(status === 429 || status === 503 ? { 'Retry-After': ref('Retry-After') } : {}),
  };
}

function headerObject(description: string): oas31.HeaderObject {
  return { description, required: true, schema: { type: 'string' } };
}
