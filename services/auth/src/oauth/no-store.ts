import type { ServerResponse } from 'node:http';

/** RFC 6749, sections 5.1 and 5.2; errors included. */
export function noStore(_req: unknown, res: ServerResponse, next: () => void): void {
  res.setHeader('cache-control', 'no-store');
  res.setHeader('pragma', 'no-cache');
  next();
}
