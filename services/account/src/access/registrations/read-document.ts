import type { Agent } from 'undici';
import { z } from 'zod';
import { boundedBytes } from '../../http/bounded-bytes.ts';
import { readClientMetadata } from './metadata.ts';
import type { ClientMetadata } from './metadata.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 16_384;

/** What we read of it; other members are its own. A secret that everyone can read is none. */
const documentSchema = z.object({
  client_id: z.string(),
  client_name: z.string().optional(),
  redirect_uris: z.array(z.string()).max(100),
  token_endpoint_auth_method: z.literal('none').optional(),
  client_secret: z.undefined().optional(),
});

/**
 * Reads a client's document (draft-ietf-oauth-client-id-metadata-document) through the webhooks' connector, which goes
 * to public addresses only. No redirect is followed: the address is the client's name.
 * @throws {Error} whatever is wrong
 */
export function createReadDocument(agent: Agent): (url: string) => Promise<ClientMetadata> {
  return async (url) => {
    const { origin, pathname } = new URL(url);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers = { accept: 'application/json', 'user-agent': 'Tollgate-Client-Documents' };
    const answer = await agent.request({ origin, path: pathname, method: 'GET', headers, signal });
    const bytes = await boundedBytes(
      answer.body,
      MAX_BYTES,
      () => new Error(`it has more than ${String(MAX_BYTES)} bytes`),
    );
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (answer.statusCode !== 200) throw new Error(`its server answered ${String(answer.statusCode)}`);
    const document = documentSchema.parse(JSON.parse(text));
    if (document.client_id !== url) throw new Error('its client_id is not its address');
    const metadata = readClientMetadata(document);
    if ('code' in metadata) throw new Error(metadata.description);
    return metadata;
  };
}
