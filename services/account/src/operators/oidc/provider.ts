import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import { SIGNING_ALGORITHMS } from './algorithms.ts';
import { logoutTokenReader } from './logout-token.ts';
import type { LogoutToken } from './logout-token.ts';
import { roleOf, saysGroups } from './groups.ts';
import type { FoundRole, GroupRoles } from './groups.ts';

export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  groups: GroupRoles;
  /** Where answers come back to. */
  redirectUri: string;
  /** Where the provider leads after signing out. */
  signedOutUri: string;
};

/** What one sign-in is bound to. */
export type SignInSecrets = { state: string; nonce: string; code_verifier: string };

/** Whom the provider has signed in. */
export type Identity = {
  issuer: string;
  subject: string;
  name: string;
  /** Only if the provider has verified it. */
  email: string | null;
  found: FoundRole;
  /** The provider's session, which it names when it ends it. */
  provider_session: string | null;
  /** For signing out there. */
  id_token: string | null;
};

export type IdentityProvider = {
  issuer: string;
  /** `again`: the provider must ask who it is, also where it knows. @throws {Problem} identity_provider_unavailable */
  authorizationUrl: (secrets: SignInSecrets, options: { again: boolean }) => Promise<string>;
  /**
   * @param parameters the query of the redirect URI, as the browser brought it
   * @throws {Problem} operator_sign_in_failed; identity_provider_unavailable
   */
  identityOf: (parameters: string, secrets: SignInSecrets) => Promise<Identity>;
  /** Null if the provider has no such page, or can't be asked for it. */
  endSessionUrl: (idToken: string | null) => Promise<string | null>;
  /** @throws if the token isn't the provider's, for us, and of now */
  readLogoutToken: (token: string) => Promise<LogoutToken>;
};

const TIMEOUT_SEC = 5;
const CLOCK_TOLERANCE_SEC = 60;
const DISCOVERED_FOR_MS = 3_600_000;
const MIN_REFETCH_MS = 60_000;
const MAX_ANSWER_BYTES = 1_048_576;
/** OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT_LENGTH = 255;
const MAX_SID_LENGTH = 1_024;
/** Longer ones are not kept, and signing out at the provider asks there. */
const MAX_ID_TOKEN_LENGTH = 8_192;

/** Read at the first use, as few processes meet it. */
const library = async () => import('openid-client');

type Library = Awaited<ReturnType<typeof library>>;

/** Nothing is asked of it before someone signs in: account starts and serves without it. */
export function createIdentityProvider(
  settings: OidcSettings,
  { logger, now = Date.now }: { logger: Pick<Logger, 'warn'>; now?: () => number },
): IdentityProvider {
  const { issuer, clientId, redirectUri, signedOutUri } = settings;
  let discovered: { at: number; configuration: Promise<Configuration> } | undefined;
  let refetchedAt = -Infinity;

  async function configurationOf(client: Library): Promise<Configuration> {
    if (discovered === undefined || now() - discovered.at >= DISCOVERED_FOR_MS) {
      const configuration = discover(client, settings);
      const own = { at: now(), configuration };
      discovered = own;
      configuration.catch(() => {
        if (discovered === own) discovered = undefined;
      });
    }
    try {
      return await discovered.configuration;
    } catch (error) {
      logger.warn({ err: error, issuer }, "the operators' identity provider could not be asked");
      throw unavailable();
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
    authorizationUrl: async ({ state, nonce, code_verifier }, { again }) => {
      const client = await library();
      const configuration = await configurationOf(client);
      const metadata = configuration.serverMetadata();
      // Some providers refuse a scope that they don't have.
      const hasGroups = metadata.scopes_supported?.includes('groups') === true;
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: ['openid', 'profile', 'email', ...(hasGroups ? ['groups'] : [])].join(' '),
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
        ...(again ? { prompt: 'login' } : {}),
      }).href;
    },
    identityOf: async (parameters, { state, nonce, code_verifier }) => {
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
        const { alg } = (await import('jose')).decodeProtectedHeader(tokens.id_token ?? '');
        if (alg === undefined || !SIGNING_ALGORITHMS.includes(alg)) {
          throw new Error('the ID token is signed by another algorithm');
        }
        const own = tokens.claims();
        if (own === undefined) throw new Error('the answer has no ID token');
        if (!isText(own.sub, MAX_SUBJECT_LENGTH)) throw new Error('the subject is too long, or not text');
        const isWhole = saysGroups(own) && own['name'] !== undefined;
        const claims = isWhole
          ? own
          : { ...(await userInfo(client, configuration, tokens, own.sub)), ...own };
        const { id_token } = tokens;
        return {
          issuer,
          subject: own.sub,
          ...shownOf(claims),
          found: roleOf(saysGroups(own) ? own : claims, settings.groups),
          provider_session: isText(own['sid'], MAX_SID_LENGTH) ? own['sid'] : null,
          id_token: id_token !== undefined && id_token.length <= MAX_ID_TOKEN_LENGTH ? id_token : null,
        };
      } catch (error) {
        if (isOfKeys(error)) forgetKeys();
        logger.warn({ ...reasonOf(error), issuer }, 'an operator could not sign in by the identity provider');
        throw isUnavailable(client, error) ? unavailable() : failed(client, error);
      }
    },
    endSessionUrl: async (idToken) => {
      const client = await library();
      const configuration = await configurationOf(client).catch(() => undefined);
      if (configuration?.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: signedOutUri,
        ...(idToken === null ? {} : { id_token_hint: idToken }),
      }).href;
    },
    readLogoutToken: logoutTokenReader({
      clientId,
      clockToleranceSec: CLOCK_TOLERANCE_SEC,
      timeoutMs: TIMEOUT_SEC * 1_000,
      refetchMs: MIN_REFETCH_MS,
      provider: async () => (await configurationOf(await library())).serverMetadata(),
    }),
  };
}

async function discover(
  client: Library,
  { issuer, clientId, clientSecret }: OidcSettings,
): Promise<Configuration> {
  const server = new URL(issuer);
  const execute = [
    // Otherwise an ID token that comes straight from the provider is believed without its signature.
    client.enableNonRepudiationChecks,
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- on loopback only (../settings.ts)
    ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
  ];
  const options = { execute, timeout: TIMEOUT_SEC, [client.customFetch]: boundedFetch };
  const metadata = { client_secret: clientSecret, [client.clockTolerance]: CLOCK_TOLERANCE_SEC };
  const authentication: ClientAuth = (as, own, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const use = methods.includes('client_secret_basic') ? client.ClientSecretBasic : client.ClientSecretPost;
    use(clientSecret)(as, own, body, headers);
  };
  const configuration = await client.discovery(server, clientId, metadata, authentication, options);
  // The library lets Entra's common issuer stand for any tenant.
  const { issuer: own } = configuration.serverMetadata();
  if (!URL.canParse(own) || new URL(own).href !== server.href) {
    throw new Error('the identity provider calls itself by another issuer');
  }
  return configuration;
}

/** An answer without end would fill the memory. */
const boundedFetch: CustomFetch = async (url, { method, headers, body, redirect, signal }) => {
  const response = await fetch(url, {
    method,
    headers,
    redirect,
    ...(body === undefined || body === null ? {} : { body: body as RequestInit['body'] }),
    ...(signal === undefined ? {} : { signal }),
  } as RequestInit);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    length += bytes.length;
    if (length > MAX_ANSWER_BYTES) throw new TypeError('the answer of the identity provider is too long');
    chunks.push(bytes);
  }
  const { status, statusText } = response;
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), {
    status,
    statusText,
    headers: response.headers,
  });
};

/** Most providers have names and groups there only. What the ID token says comes first. */
async function userInfo(
  client: Library,
  configuration: Configuration,
  { access_token }: { access_token: string },
  subject: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return client.fetchUserInfo(configuration, access_token, subject);
}

const MAX_NAME_LENGTH = 200;
const MAX_EMAIL_LENGTH = 254;

/** Names are shown only; who it is say issuer and subject. */
function shownOf(claims: Readonly<Record<string, unknown>>): Pick<Identity, 'name' | 'email'> {
  const { email, email_verified: verified } = claims;
  const isVerified = verified === true || verified === 'true';
  const isAddress = isText(email, MAX_EMAIL_LENGTH) && email.length >= 3;
  const names = [claims['name'], claims['preferred_username'], isVerified ? email : undefined, claims['sub']];
  const text = names.find((one): one is string => typeof one === 'string' && clean(one) !== '');
  return {
    name: text === undefined ? 'unnamed' : clean(text),
    email: isVerified && isAddress ? email : null,
  };
}

/** What the database holds. */
function isText(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength && !/\p{Cc}/u.test(value);
}

function clean(text: string): string {
  return Array.from(text.replaceAll(/\p{C}/gu, ' ').trim()).slice(0, MAX_NAME_LENGTH).join('').trim();
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

/** Not the error itself: some hold the tokens that they are about. */
function reasonOf(error: unknown): { reason: string; code: unknown } {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return { reason: error instanceof Error ? `${error.message}${cause}` : 'unknown', code: codeOf(error) };
}

function unavailable(): Problem {
  return new Problem('identity_provider_unavailable', {
    detail: 'The identity provider does not answer. Operators who have a passkey can sign in with it.',
  });
}

function failed(client: Library, error: unknown): Problem {
  const answered = error instanceof client.AuthorizationResponseError ? error.error : undefined;
  const said = answered !== undefined && /^[a-z_]{1,40}$/.test(answered) ? ` It says ${answered}.` : '';
  return new Problem('operator_sign_in_failed', {
    detail: `The answer of the identity provider was not accepted.${said} Sign in again.`,
  });
}
