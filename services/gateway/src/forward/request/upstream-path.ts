/** Query parameters in which callers bring tokens (RFC 6750, section 2.3; service.md, "Data endpoint"). */
const TOKEN_PARAMETERS = new Set(['access_token', 'token']);

/**
 * The request target at the upstream: its own path, and for a GET the caller's query string, byte for byte
 * but for tokens: over HTTP only the header counts, and a token in a URL never reaches the upstream or its
 * logs.
 */
export function upstreamPath(path: string, method: string, query: string): string {
  return method === 'GET' && query.length > 1 ? path + withoutTokens(query) : path;
}

function withoutTokens(query: string): string {
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => !TOKEN_PARAMETERS.has(parameterName(pair)));
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** The decoded name, as the upstream would read it. */
function parameterName(pair: string): string {
  const [name = ''] = new URLSearchParams(pair).keys();
  return name.toLowerCase();
}
