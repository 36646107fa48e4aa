import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { freePort } from '@tollgate/stack/ports';

/** oidc-provider, which others wrote, as the identity provider of a suite. Signing in takes any name and any password. */
export type OidcProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The groups of the names that sign in; others have none. */
  groups: Map<string, string[]>;
  /** Of people's addresses. */
  domain: string;
  /** Of teams, besides the console's own: each has one, which is known only once it is made. */
  redirectUris: Set<string>;
  stop: () => Promise<void>;
};

/** @param operatorsUrl of the console, whose client it has */
export async function startOidcProvider(operatorsUrl: string, host = 'localhost'): Promise<OidcProvider> {
  const { default: Provider } = await import('oidc-provider');
  const port = await freePort();
  const issuer = `http://${host}:${String(port)}`;
  const secret = () => randomBytes(32).toString('base64url');
  const client = { client_id: 'tollgate-operators', client_secret: secret() };
  const groups = new Map<string, string[]>();
  const provider = new Provider(issuer, {
    clients: [
      {
        ...client,
        redirect_uris: [`${operatorsUrl}/oidc/callback`],
        post_logout_redirect_uris: [`${operatorsUrl}/`],
        backchannel_logout_uri: `${operatorsUrl}/oidc/back-channel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    scopes: ['openid', 'profile', 'email', 'groups'],
    cookies: { keys: [secret()] },
    features: { backchannelLogout: { enabled: true } },
    // Its own refuses loopback addresses, and ours are there.
    fetch: (url, options) => {
      const { dispatcher: _, ...others } = { dispatcher: undefined, ...options };
      return fetch(url, others);
    },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        name: id,
        email: `${encodeURIComponent(id)}@${started.domain}`,
        email_verified: true,
        groups: groups.get(id) ?? [],
      }),
    }),
  });
  const redirectUris = new Set<string>();
  // As its documentation has it, for addresses that aren't known when it starts.
  const { prototype } = provider.Client;
  const isRegistered = Object.getOwnPropertyDescriptor(prototype, 'redirectUriAllowed')?.value as (
    this: unknown,
    uri: string,
  ) => boolean;
  prototype.redirectUriAllowed = function isAllowed(uri: string) {
    return redirectUris.has(uri) || isRegistered.call(this, uri);
  };
  const handle = provider.callback();
  const server = createServer((req, res) => void handle(req, res));
  server.listen(port, host);
  await once(server, 'listening');
  const started: OidcProvider = {
    issuer,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    groups,
    domain: 'example.com',
    redirectUris,
    stop: () => close(server),
  };
  return started;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
