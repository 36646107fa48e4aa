import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from 'jose';
import type { JWTPayload } from 'jose';
import { freePort } from '@tollgate/stack/ports';

/** An identity provider that lies when it is told to, which a real one can't be made to. */
export type LyingProvider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What is wrong with the next answers; reset it by assigning {}. */
  lie: Lie;
  /** The claims of the next ID tokens, besides those that each has. */
  claims: Record<string, unknown>;
  /** What its metadata have besides, or otherwise. */
  metadata: Record<string, unknown>;
  /** Of userinfo; undefined: it has none. */
  userInfo: Record<string, unknown> | undefined;
  /** Requests of each path. */
  requests: Map<string, number>;
  /** What the token endpoint was sent. */
  tokenRequests: URLSearchParams[];
  /** Signs in: the query that the browser brings back. */
  answerTo: (authorizationUrl: string, changes?: Record<string, string | null>) => string;
  logoutToken: (claims: JWTPayload, lie?: Pick<Lie, 'key' | 'type'>) => Promise<string>;
  rotateKeys: () => Promise<void>;
  goAway: () => Promise<void>;
  comeBack: () => Promise<void>;
};

type Lie = {
  /** Signs with a key that nothing publishes, not at all, with the client's secret, or by an algorithm that isn't taken. */
  key?: 'foreign' | 'none' | 'client_secret' | 'ES512';
  type?: string;
  status?: number;
};

const CLIENT = { clientId: 'console', clientSecret: 'secret-of-the-console' };

const newKey = async (kid: string, alg = 'ES256') => ({
  kid,
  alg,
  ...(await generateKeyPair(alg, { extractable: true })),
});

export async function startLyingProvider(): Promise<LyingProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${String(port)}`;
  let key = await newKey('first');
  let rotated = 0;
  const foreign = await newKey('first');
  const unusual = await newKey('unusual', 'ES512');
  const codes = new Map<string, { nonce: string; challenge: string }>();
  const server = createServer((req, res) => void respond(req, res));

  async function sign(claims: JWTPayload, { key: how, type = 'JWT' }: Lie): Promise<string> {
    if (how === 'none') return new UnsecuredJWT(claims).encode();
    if (how === 'client_secret') {
      const secret = new TextEncoder().encode(CLIENT.clientSecret);
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: type }).sign(secret);
    }
    const used = how === 'foreign' ? foreign : how === 'ES512' ? unusual : key;
    const header = { alg: used.alg, kid: used.kid, typ: type };
    return new SignJWT(claims).setProtectedHeader(header).sign(used.privateKey);
  }

  async function tokens(req: IncomingMessage): Promise<[number, object]> {
    const form = new URLSearchParams(await text(req));
    provider.tokenRequests.push(form);
    const code = form.get('code') ?? '';
    const known = codes.get(code);
    codes.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (known?.challenge !== challenge) return [400, { error: 'invalid_grant' }];
    const now = Math.floor(Date.now() / 1_000);
    const own = { iss: issuer, sub: 'ada', aud: CLIENT.clientId, iat: now, exp: now + 300 };
    const claims = { ...own, nonce: known.nonce, ...provider.claims };
    const id_token = await sign(claims, provider.lie);
    return [200, { access_token: 'access-of-ada', token_type: 'Bearer', id_token }];
  }

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname } = new URL(req.url ?? '/', issuer);
    provider.requests.set(pathname, (provider.requests.get(pathname) ?? 0) + 1);
    const send = (status: number, body: object) =>
      res
        .writeHead(status, { 'content-type': 'application/json', location: `${issuer}/moved` })
        .end(JSON.stringify(body));
    if (provider.lie.status !== undefined) return void send(provider.lie.status, { error: 'server_error' });
    if (pathname === '/.well-known/openid-configuration') {
      return void send(200, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        jwks_uri: `${issuer}/jwks`,
        end_session_endpoint: `${issuer}/end`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        // It offers what must not be taken.
        id_token_signing_alg_values_supported: ['ES256', 'ES512', 'HS256', 'none'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
        authorization_response_iss_parameter_supported: true,
        scopes_supported: ['openid', 'profile', 'email', 'groups'],
        ...provider.metadata,
      });
    }
    if (pathname === '/jwks') {
      const published = [key, unusual].map(async ({ publicKey, kid, alg }) => ({
        ...(await exportJWK(publicKey)),
        kid,
        alg,
        use: 'sig',
      }));
      return void send(200, { keys: await Promise.all(published) });
    }
    if (pathname === '/token') return void send(...(await tokens(req)));
    if (pathname === '/me' && provider.userInfo !== undefined) {
      return void send(200, { sub: provider.claims['sub'] ?? 'ada', ...provider.userInfo });
    }
    return void send(404, {});
  }

  const provider: LyingProvider = {
    issuer,
    ...CLIENT,
    lie: {},
    claims: {},
    metadata: {},
    userInfo: { sub: 'ada' },
    requests: new Map(),
    tokenRequests: [],
    answerTo: (authorizationUrl, changes = {}) => {
      const asked = new URL(authorizationUrl).searchParams;
      const code = `code-${String(codes.size)}-${asked.get('state') ?? ''}`;
      codes.set(code, { nonce: asked.get('nonce') ?? '', challenge: asked.get('code_challenge') ?? '' });
      const answer = { code, state: asked.get('state'), iss: issuer, ...changes };
      const sent = Object.entries(answer).filter((pair): pair is [string, string] => pair[1] !== null);
      return new URLSearchParams(sent).toString();
    },
    logoutToken: async (claims, lie = {}) => {
      const iat = Math.floor(Date.now() / 1_000);
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      const own = { iss: issuer, aud: CLIENT.clientId, iat, exp: iat + 120, events };
      return sign({ ...own, ...claims }, { type: 'logout+jwt', ...lie });
    },
    rotateKeys: async () => {
      rotated += 1;
      key = await newKey(`rotated-${String(rotated)}`);
    },
    goAway: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    comeBack: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
  await provider.comeBack();
  return provider;
}
