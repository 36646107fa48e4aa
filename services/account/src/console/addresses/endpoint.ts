import type { RequestHandler } from 'express';

/** Base URLs without a trailing slash; null for the address of the web interface itself. */
export type PublicAddresses = { streamingUrl: string | null; authUrl: string | null };

/** `GET /api/console/addresses`: 200. Where the data and token endpoints are, for the explorer and code samples. */
export function addressesEndpoint({ streamingUrl, authUrl }: PublicAddresses): RequestHandler {
  return (_req, res) => {
    res.json({ streaming_url: streamingUrl, auth_url: authUrl });
  };
}
