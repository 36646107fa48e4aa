import type { Logger } from '@tollgate/log';
import { Problem } from '@tollgate/http/problem';
import { emailOf, emailVerified, isText, nameOf } from '../../oidc/claims.ts';
import type { Claims } from '../../oidc/claims.ts';
import { ProviderFault } from '../../oidc/provider-fault.ts';
import {
  CLOCK_TOLERANCE_SEC,
  MIN_REFETCH_MS,
  TIMEOUT_SEC,
  createRelyingParty,
} from '../../oidc/relying-party.ts';
import type { RelyingPartySettings, SignInSecrets } from '../../oidc/relying-party.ts';
import { logoutTokenReader } from './logout-token.ts';
import type { LogoutToken } from './logout-token.ts';
import { roleOf, saysGroups } from './groups.ts';
import type { FoundRole, GroupRoles } from './groups.ts';

export type OidcSettings = RelyingPartySettings & {
  groups: GroupRoles;
  /** Where the provider leads after signing out. */
  signedOutUri: string;
};

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
  /**
   * @param prompt `login`: the provider must ask who it is, also where it knows; `none`: it must ask nothing
   * @throws {Problem} identity_provider_unavailable
   */
  authorizationUrl: (secrets: SignInSecrets, prompt: 'login' | 'none' | undefined) => Promise<string>;
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

const MAX_ANSWER_BYTES = 1_048_576;
const MAX_SID_LENGTH = 1_024;
/** Longer ones are not kept, and signing out at the provider asks there. */
const MAX_ID_TOKEN_LENGTH = 8_192;

export function createIdentityProvider(
  settings: OidcSettings,
  { logger, now = Date.now }: { logger: Pick<Logger, 'warn'>; now?: () => number },
): IdentityProvider {
  const { issuer, clientId, signedOutUri, groups } = settings;
  const provider = createRelyingParty(settings, { fetch, maxAnswerBytes: MAX_ANSWER_BYTES, now });

  function refused(error: unknown): never {
    if (!(error instanceof ProviderFault)) throw error;
    const { message: reason, code } = error;
    logger.warn({ reason, code, issuer }, 'an operator could not sign in by the identity provider');
    throw error.isUnavailable ? unavailable() : failed(error);
  }

  return {
    issuer,
    authorizationUrl: (secrets, prompt) =>
      provider
        .authorizationUrl(secrets, {
          scopesIfOffered: ['groups'],
          parameters: prompt === undefined ? {} : { prompt },
        })
        .catch(refused),
    identityOf: async (parameters, secrets) => {
      const saysEnough = (own: Claims) => saysGroups(own) && own['name'] !== undefined;
      const answer = await provider.answerTo(parameters, secrets, saysEnough).catch(refused);
      const { subject, own, claims, idToken } = answer;
      return {
        issuer,
        subject,
        ...shownOf(claims),
        found: roleOf(saysGroups(own) ? own : claims, groups),
        provider_session: isText(own['sid'], MAX_SID_LENGTH) ? own['sid'] : null,
        id_token: idToken !== undefined && idToken.length <= MAX_ID_TOKEN_LENGTH ? idToken : null,
      };
    },
    endSessionUrl: async (idToken) => {
      const hint = idToken === null ? {} : { id_token_hint: idToken };
      const parameters = { post_logout_redirect_uri: signedOutUri, ...hint };
      return provider.endSessionUrl(parameters).catch(() => null);
    },
    readLogoutToken: logoutTokenReader({
      clientId,
      clockToleranceSec: CLOCK_TOLERANCE_SEC,
      timeoutMs: TIMEOUT_SEC * 1_000,
      refetchMs: MIN_REFETCH_MS,
      provider: provider.metadata,
    }),
  };
}

/** Names are shown only; who it is say issuer and subject. */
function shownOf(claims: Claims): Pick<Identity, 'name' | 'email'> {
  const isVerified = emailVerified(claims) === true;
  const { name, preferred_username, sub } = claims;
  return {
    name: nameOf([name, preferred_username, isVerified ? claims['email'] : undefined, sub]) ?? 'unnamed',
    email: isVerified ? emailOf(claims) : null,
  };
}

function unavailable(): Problem {
  return new Problem('identity_provider_unavailable', {
    detail: 'The identity provider does not answer. Operators who have a passkey can sign in with it.',
  });
}

function failed(fault: ProviderFault): Problem {
  const reason = fault.said === undefined ? '' : ` It says ${fault.said}.`;
  return new Problem('operator_sign_in_failed', {
    detail: `The answer of the identity provider was not accepted.${reason} Sign in again.`,
    cause: fault,
  });
}

/** Whether the provider itself has refused to say who someone is: not signed in there, or not for us. */
export function isRefusedByProvider(error: unknown): boolean {
  return error instanceof Problem && error.cause instanceof ProviderFault && error.cause.said !== undefined;
}
