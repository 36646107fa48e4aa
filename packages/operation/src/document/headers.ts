import type { oas31 } from 'zod-openapi';

type Headers = Record<string, oas31.HeaderObject | oas31.ReferenceObject>;

const ref = (name: string) => ({ $ref: `#/components/headers/${name}` });

export const HEADERS = {
  'X-Request-Id': headerObject('The ID of the request in the logs.'),
  'No-Store': headerObject('`no-store`.'),
  'Retry-After': headerObject('Seconds to wait before retrying.'),
};

/** Headers that a response always has, by description, and `X-Request-Id`, which every response has. */
export function headersOf(held: Readonly<Record<string, string>>): Headers {
  const own = Object.entries(held).map(([name, description]) => [name, headerObject(description)] as const);
  return { 'X-Request-Id': ref('X-Request-Id'), ...Object.fromEntries(own) };
}

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
