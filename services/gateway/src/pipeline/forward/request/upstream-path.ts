/** Query parameters for tokens (RFC 6750, section 2.3; service.md, "Data endpoint"). */
const TOKEN_PARAMETERS = new Set(['access_token', 'token']);

/** The request target at the upstream. A GET keeps its query string byte for byte, but for tokens (logs). */
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

function parameterName(pair: string): string {
  const [name = ''] = new URLSearchParams(pair).keys();
  return name.toLowerCase();
}
