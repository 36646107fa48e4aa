import type { ActiveToken } from '@tollgate/contracts/introspection';
import { DATA_SCOPE, MCP_SCOPE, resourceServers } from '@tollgate/contracts/resource-servers';
import type { ResourceServer } from '@tollgate/contracts/resource-servers';
import { Problem, invalidToken } from '@tollgate/http/problem';

type Audience = Pick<ActiveToken, 'aud' | 'via' | 'scope'>;

/** Whether a token is for a resource server (RFC 8707, section 3). @throws {Problem} unauthorized; forbidden */
export type AssertAudience = (token: Audience) => void;

/** What a gateway without `STREAMING_URL` knows of an address. */
const OF_MCP = /\/mcp\/?$/;

/**
 * Tokens that a person's consent made name what they are for; without a name it is the data API. Others are an
 * account's own, which all of it is for.
 */
export function createAudience(
  streamingUrl: string | undefined,
  mcpTokens: 'any' | 'authorization',
): { data: AssertAudience; mcp: AssertAudience } {
  const known: ReadonlyMap<string, ResourceServer> =
    streamingUrl === undefined ? new Map() : resourceServers(streamingUrl);
  const serverOf = (aud: string) => known.get(aud) ?? (OF_MCP.test(aud) ? 'mcp' : 'data');

  return {
    data: ({ aud, scope }) => {
      if (aud !== undefined && serverOf(aud) === 'mcp') throw invalidToken();
      // Nearly all tokens have this scope alone.
      if (scope !== DATA_SCOPE) assertScope(scope, DATA_SCOPE);
    },
    mcp: ({ aud, via, scope }) => {
      if (via === undefined) {
        if (mcpTokens === 'authorization') throw invalidToken();
        return;
      }
      if (aud === undefined || serverOf(aud) === 'data') throw invalidToken();
      assertScope(scope, MCP_SCOPE);
    },
  };
}

function assertScope(scope: string, wanted: string): void {
  if (scope.split(' ').includes(wanted)) return;
  throw new Problem('forbidden', {
    detail: `The token lacks the scope ${wanted}.`,
    headers: { 'www-authenticate': `Bearer realm="tollgate", error="insufficient_scope", scope="${wanted}"` },
  });
}
