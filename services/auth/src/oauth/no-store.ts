import type { ServerResponse } from 'node:http';

/** No answer of an OAuth endpoint may be cached, errors included (RFC 6749, sections 5.1 and 5.2). */
export function noStore(_req: unknown, res: ServerResponse, next: () => void): void {
  res.setHeader('cache-control', 'no-store');
  res.setHeader('pragma', 'no-cache');
  next();
}
