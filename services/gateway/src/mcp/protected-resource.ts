import type { RequestHandler } from 'express';
import { MCP_PATH, MCP_SCOPE, MCP_WRITE_SCOPE } from '@tollgate/contracts/resource-servers';
import { Problem } from '@tollgate/http/problem';

export const PROTECTED_RESOURCE_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

/** How a client learns where to get a token (RFC 9728, section 5.1). */
export type Challenge = {
  metadataUrl: string;
  /** A refusal of a token, with what a client has to do about it. */
  withChallenge: (problem: Problem) => Problem;
};

export function createChallenge(streamingUrl: string): Challenge {
  const metadataUrl = `${streamingUrl}${PROTECTED_RESOURCE_PATH}`;
  return {
    metadataUrl,
    withChallenge: (problem) => {
      const given = problem.headers['www-authenticate'];
      if (given === undefined) return problem;
      const error = /error="[a-z_]+"/.exec(given)?.[0];
      const parameters = [error, `resource_metadata="${metadataUrl}"`, `scope="${MCP_SCOPE}"`];
      const challenge = `Bearer ${parameters.filter((each) => each !== undefined).join(', ')}`;
      const { code, detail, headers, extensions, cause } = problem;
      return new Problem(code, {
        ...(detail !== undefined && { detail }),
        headers: { ...headers, 'www-authenticate': challenge },
        extensions,
        cause,
      });
    },
  };
}

/** RFC 9728. Public, for pages of any origin. */
export function protectedResource(options: { streamingUrl: string; issuer: string }): RequestHandler {
  const metadata = {
    resource: `${options.streamingUrl}${MCP_PATH}`,
    authorization_servers: [options.issuer],
    scopes_supported: [MCP_SCOPE, MCP_WRITE_SCOPE],
    bearer_methods_supported: ['header'],
    resource_name: 'GraphQL API',
    resource_documentation: `${options.streamingUrl}/docs/agents`,
  };
  return (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new Problem('method_not_allowed', { headers: { allow: 'GET, HEAD' } });
    }
    res.set({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' }).json(metadata);
  };
}
