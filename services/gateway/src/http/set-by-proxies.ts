// Fields that load balancers, CDNs, authenticating proxies and frameworks set or obey. An upstream that trusts one of
// them would trust the caller. No list of them is complete (docs/design/forwarding.md).

/** Where a call comes from, and what it asks for. */
const CALL = [
  'ali-cdn-real-ip',
  'cdn-src-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-ipcountry',
  'cf-pseudo-ipv4',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'forwarded-for',
  'front-end-https',
  'incap-client-ip',
  'true-client-ip',
  'wl-proxy-client-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-host',
  'x-http-host-override',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-middleware-subrequest',
  'x-nf-client-connection-ip',
  'x-originating-ip',
  'x-proxyuser-ip',
  'x-real-ip',
  'x-rewrite-url',
  'x-scheme',
  'x-url-scheme',
  'x-vercel-forwarded-for',
];

/** Who calls, by a session, a token or a client certificate (RFC 9440). */
const CALLER = [
  'client-cert',
  'client-cert-chain',
  'x-amzn-request-context',
  'x-anonymous-consumer',
  'x-apigateway-api-userinfo',
  'x-arr-clientcert',
  'x-auth-user',
  'x-authenticated-groups',
  'x-authenticated-scope',
  'x-authenticated-user',
  'x-authenticated-userid',
  'x-client-dn',
  'x-client-verify',
  'x-credential-identifier',
  'x-credential-username',
  'x-endpoint-api-userinfo',
  'x-goog-iap-jwt-assertion',
  'x-remote',
  'x-userinfo',
];

/** Beginnings of names. `remote-` is Authelia's and CGI's, `x-remote-` that of the Kubernetes API. */
const BEGINNINGS = [
  'cf-access-',
  'mellon-',
  'oidc-',
  'remote-',
  'shib-',
  'ssl-client-',
  'tailscale-',
  'x-amzn-mtls-',
  'x-amzn-oidc-',
  'x-appengine-',
  'x-auth-request-',
  'x-authentik-',
  'x-client-cert',
  'x-consumer-',
  'x-envoy-',
  'x-forwarded-',
  'x-goog-authenticated-user-',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-original-',
  'x-pomerium-',
  'x-remote-',
  'x-ssl-client-',
  'x-tls-client-',
  'x-vouch-',
  'x-webauth-',
];

const NAMES = new Set([...CALL, ...CALLER]);
const BEGINS = new RegExp(`^(?:${BEGINNINGS.join('|')})`);

/** Whether proxies set or obey the field; its name in lower case, with `-` between words. */
export function isSetByProxies(canonicalName: string): boolean {
  return NAMES.has(canonicalName) || BEGINS.test(canonicalName);
}
