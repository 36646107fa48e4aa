import { isVisible, textFault } from '../../http/input/visible-text.ts';
import { REDIRECT_URIS_MAX, redirectHost, redirectUriFault } from '../redirect-uris/redirect-uri.ts';

const NAME_MAX_CHARACTERS = 80;

/** What a client says of itself (RFC 7591, section 2). All else of it, a logo above all, is never fetched or shown. */
export type ClientMetadata = { name: string; redirect_uris: string[] };

/** RFC 7591, section 3.2.2. */
export type MetadataFault = {
  code: 'invalid_redirect_uri' | 'invalid_client_metadata';
  description: string;
};

/** The rules of applications that developers make, and a shorter name. */
export function readClientMetadata(said: {
  client_name?: string | undefined;
  redirect_uris: readonly string[];
}): ClientMetadata | MetadataFault {
  const redirect_uris = [...new Set(said.redirect_uris)];
  const [first] = redirect_uris;
  if (first === undefined || redirect_uris.length > REDIRECT_URIS_MAX) {
    const description = `redirect_uris must have 1 to ${String(REDIRECT_URIS_MAX)} entries.`;
    return { code: 'invalid_redirect_uri', description };
  }
  for (const uri of redirect_uris) {
    const fault = redirectUriFault(uri);
    if (fault !== undefined) {
      return { code: 'invalid_redirect_uri', description: `A redirect URI ${fault}.` };
    }
  }
  const name = said.client_name?.trim() ?? redirectHost(first) ?? 'Unnamed application';
  const fault = nameFault(name);
  if (fault === undefined) return { name, redirect_uris };
  return { code: 'invalid_client_metadata', description: `client_name ${fault}.` };
}

function nameFault(name: string): string | undefined {
  if (Array.from(name).length > NAME_MAX_CHARACTERS) {
    return `must have at most ${String(NAME_MAX_CHARACTERS)} characters`;
  }
  return textFault(name) ?? (isVisible(name) ? undefined : 'must have at least one visible character');
}
