import type { ClientAuth, Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import { boundedBytes } from '../http/bounded-bytes.ts';
import { SIGNING_ALGORITHMS } from './algorithms.ts';
import { isText } from './claims.ts';
import type { Claims } from './claims.ts';
import { ProviderFault } from './provider-fault.ts';

export type RelyingPartySettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Where answers come back to. */
  redirectUri: string;
};

/** What one sign-in is bound to. */
export type SignInSecrets = { state: string; nonce: string; code_verifier: string };

type ProviderAnswer = {
  subject: string;
  /** Of the ID token. */
  own: Claims;
  /** With those of userinfo, if the ID token doesn't say enough; what the ID token says comes first. */
  claims: Claims;
  idToken: string | undefined;
};

/** Our side of OpenID Connect with one provider. All but `issuer` throw a {@link ProviderFault}. */
export type RelyingParty = {
  issuer: string;
  metadata: () => Promise<ServerMetadata>;
  authorizationUrl: (
    secrets: SignInSecrets,
    options: {
      /** Some providers refuse a scope that they don't have. */
      scopesIfOffered?: readonly string[];
      parameters?: Readonly<Record<string, string>>;
    },
  ) => Promise<string>;
  /** @param parameters the query of the redirect URI, as the browser brought it */
  answerTo: (
    parameters: string,
    secrets: SignInSecrets,
    saysEnough: (own: Claims) => boolean,
  ) => Promise<ProviderAnswer>;
  /** Null if the provider has no such page. */
  endSessionUrl: (parameters: Readonly<Record<string, string>>) => Promise<string | null>;
};

type RelyingPartyOptions = {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  maxAnswerBytes: number;
  now?: () => number;
};

export const TIMEOUT_SEC = 5;
export const CLOCK_TOLERANCE_SEC = 60;
export const MIN_REFETCH_MS = 60_000;
const DISCOVERED_FOR_MS = 3_600_000;
/** OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT_LENGTH = 255;

const SCOPES = ['openid', 'profile', 'email'];

/** Read at the first use, as few processes meet it. */
const library = async () => import('openid-client');

type Library = Awaited<ReturnType<typeof library>>;

/** Nothing is asked of the provider before someone signs in: account starts and serves without it. */
export function createRelyingParty(
  settings: RelyingPartySettings,
  options: RelyingPartyOptions,
): RelyingParty {
  const { issuer, redirectUri } = settings;
  const { now = Date.now } = options;
  let discovered: { at: number; configuration: Promise<Configuration> } | undefined;
  let refetchedAt = -Infinity;

  async function configurationOf(client: Library): Promise<Configuration> {
    if (discovered === undefined || now() - discovered.at >= DISCOVERED_FOR_MS) {
      const configuration = discover(client, settings, options);
      const own = { at: now(), configuration };
      discovered = own;
      configuration.catch(() => {
        if (discovered === own) discovered = undefined;
      });
    }
    try {
      return await discovered.configuration;
    } catch (error) {
      throw new ProviderFault(error, { isUnavailable: true });
    }
  }

  /** Keys that have been replaced are found at the next sign-in. */
  function forgetKeys(): void {
    if (now() - refetchedAt < MIN_REFETCH_MS) return;
    refetchedAt = now();
    discovered = undefined;
  }

  return {
    issuer,
    metadata: async () => (await configurationOf(await library())).serverMetadata(),
    authorizationUrl: async ({ state, nonce, code_verifier }, { scopesIfOffered = [], parameters = {} }) => {
      const client = await library();
      const configuration = await configurationOf(client);
      const offered = configuration.serverMetadata().scopes_supported ?? [];
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: [...SCOPES, ...scopesIfOffered.filter((scope) => offered.includes(scope))].join(' '),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
        ...parameters,
      }).href;
    },
    answerTo: async (parameters, { state, nonce, code_verifier }, saysEnough) => {
      const client = await library();
      const configuration = await configurationOf(client);
      try {
        const tokens = await client.authorizationCodeGrant(
          configuration,
          new URL(`?${parameters}`, redirectUri),
          {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: code_verifier,
            idTokenExpected: true,
          },
        );
        const { id_token: idToken } = tokens;
        const { alg } = (await import('jose')).decodeProtectedHeader(idToken ?? '');
        if (alg === undefined || !SIGNING_ALGORITHMS.includes(alg)) {
          throw new Error('the ID token is signed by another algorithm');
        }
        const own = tokens.claims();
        if (own === undefined) throw new Error('the answer has no ID token');
        const { sub: subject } = own;
        if (!isText(subject, MAX_SUBJECT_LENGTH)) throw new Error('the subject is too long, or not text');
        const more = saysEnough(own) ? {} : await userInfo(client, configuration, tokens, subject);
        return { subject, own, claims: { ...more, ...own }, idToken };
      } catch (error) {
        if (isOfKeys(error)) forgetKeys();
        throw new ProviderFault(error, {
          isUnavailable: isUnavailable(client, error),
          said: error instanceof client.AuthorizationResponseError ? error.error : undefined,
        });
      }
    },
    endSessionUrl: async (parameters) => {
      const client = await library();
      const configuration = await configurationOf(client);
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(configuration, { ...parameters }).href;
    },
  };
}

async function discover(
  client: Library,
  { issuer, clientId, clientSecret }: RelyingPartySettings,
  { fetch, maxAnswerBytes }: RelyingPartyOptions,
): Promise<Configuration> {
  const server = new URL(issuer);
  const isPlain = server.protocol === 'http:';
  const execute = [
    // Otherwise an ID token that comes straight from the provider is believed without its signature.
    client.enableNonRepudiationChecks,
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- on loopback only: settings check it
    ...(isPlain ? [client.allowInsecureRequests] : []),
  ];
  const bounded = boundedFetch(fetch, maxAnswerBytes);
  const options = { execute, timeout: TIMEOUT_SEC, [client.customFetch]: bounded };
  const metadata = { client_secret: clientSecret, [client.clockTolerance]: CLOCK_TOLERANCE_SEC };
  const authentication: ClientAuth = (as, own, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const use = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost;
    use(clientSecret)(as, own, body, headers);
  };
  const configuration = await client.discovery(server, clientId, metadata, authentication, options);
  const { issuer: own, authorization_endpoint: page } = configuration.serverMetadata();
  // The library lets Entra's common issuer stand for any tenant.
  if (!URL.canParse(own) || new URL(own).href !== server.href) {
    throw new Error('the identity provider calls itself by another issuer');
  }
  // Browsers are led there.
  const { protocol } = page === undefined ? { protocol: '' } : new URL(page);
  if (protocol !== 'https:' && !(isPlain && protocol === 'http:')) {
    throw new Error('the identity provider has no page to sign in at, or none over TLS');
  }
  return configuration;
}

/** An answer without end would fill the memory. */
function boundedFetch(fetch: RelyingPartyOptions['fetch'], maxBytes: number): CustomFetch {
  return async (url, { method, headers, body, redirect, signal }) => {
    const response = await fetch(url, {
      method,
      headers,
      redirect,
      ...(body === undefined || body === null ? {} : { body: body as RequestInit['body'] }),
      ...(signal === undefined ? {} : { signal }),
    } as RequestInit);
    const bytes = await boundedBytes(
      (response.body ?? []) as AsyncIterable<Uint8Array>,
      maxBytes,
      () => new TypeError('the answer of the identity provider is too long'),
    );
    const { status, statusText } = response;
    const isEmpty = status === 204 || status === 205 || status === 304;
    return new Response(isEmpty ? null : bytes, {
      status,
      statusText,
      headers: response.headers,
    });
  };
}

/** Most providers have names and groups there only. */
async function userInfo(
  client: Library,
  configuration: Configuration,
  { access_token }: { access_token: string },
  subject: string,
): Promise<Claims> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return client.fetchUserInfo(configuration, access_token, subject);
}

const UNAVAILABLE_CODES = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Not reached, or an answer of a server that has faults of its own. */
function isUnavailable(client: Library, error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.status >= 500;
  if (error instanceof TypeError) return true;
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  if (cause instanceof Response) return cause.status >= 500;
  return UNAVAILABLE_CODES.has(String(codeOf(error)));
}

/** The ID token names a key that isn't among those that were read. */
function isOfKeys(error: unknown): boolean {
  return codeOf(error) === 'OAUTH_KEY_SELECTION_FAILED';
}
