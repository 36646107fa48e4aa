/** What a token can be asked for (RFC 8707, docs/design/agents.md). */
export type ResourceServer = 'data' | 'mcp' | 'both';

export const MCP_PATH = '/mcp';

/** Source specification, part 5. */
export const DATA_SCOPE = 'api';
export const MCP_SCOPE = 'mcp';
export const MCP_WRITE_SCOPE = 'mcp:write';

/** Clients ask for a refresh token by it. Each grant has one anyway, so that it is accepted and not granted. */
export const OFFLINE_ACCESS = 'offline_access';

/** Each spelling of their addresses that clients are known to send, below the gateway's base URL. */
export function resourceServers(streamingUrl: string): ReadonlyMap<string, ResourceServer> {
  const base = streamingUrl.replace(/\/$/, '');
  const addresses: [string, ResourceServer][] = [
    [base, 'both'],
    [`${base}/graphql`, 'data'],
    [`${base}${MCP_PATH}`, 'mcp'],
  ];
  return new Map(
    addresses.flatMap(([address, server]) => [
      [address, server],
      [`${address}/`, server],
    ]),
  );
}
