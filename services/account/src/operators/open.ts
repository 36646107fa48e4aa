import type { Logger } from '@tollgate/log';
import type { Config } from '../config.ts';
import { createSessionCookie } from '../identity/sessions/session-cookie.ts';
import type { SessionCookie } from '../identity/sessions/session-cookie.ts';
import { relyingPartyOf } from '../identity/two-factor/passkeys/relying-party.ts';
import type { RelyingParty } from '../identity/two-factor/passkeys/relying-party.ts';
import type { FourEyesSettings } from './four-eyes/settings.ts';
import { createIdentityProvider } from './oidc/provider.ts';
import type { IdentityProvider, OidcSettings } from './oidc/provider.ts';
import type { OperatorSessionNeeds } from './require-operator-session.ts';
import { isLoopback } from './settings.ts';
import type { OperatorSite } from './settings.ts';

/** Who operators are, and their sessions. */
export function openOperators({ config, logger }: { config: Config; logger: Pick<Logger, 'warn'> }): {
  needs: {
    operatorSite: OperatorSite;
    identityProvider: IdentityProvider | undefined;
    operatorCookie: SessionCookie;
    operatorSignInCookie: SessionCookie;
    operatorLifetimes: OperatorSessionNeeds['operatorLifetimes'];
    operatorRelyingParty: RelyingParty | undefined;
    fourEyes: FourEyesSettings;
  };
} {
  const url = config.OPERATORS_URL;
  const isPlain = url !== undefined && url.startsWith('http:');
  const idleTimeoutSec = config.OPERATOR_SESSION_IDLE_TIMEOUT_SEC;
  const lifetimeSec = config.OPERATOR_SESSION_LIFETIME_SEC;
  const providerSec = Math.min(lifetimeSec, config.OPERATOR_ROLE_MAX_AGE_SEC);
  const oidc = oidcOf(config);
  return {
    needs: {
      operatorSite: {
        url,
        isLoopback: url !== undefined && isLoopback(new URL(url).hostname),
        allowsLocal: config.OPERATORS_LOCAL,
        issuer: oidc?.issuer,
      },
      identityProvider: oidc === undefined ? undefined : createIdentityProvider(oidc, { logger }),
      operatorCookie: createSessionCookie(
        { secure: !isPlain },
        { baseName: 'tollgate_operator', sameSite: 'strict', plainPath: '/operator' },
      ),
      operatorSignInCookie: createSessionCookie(
        { secure: !isPlain },
        {
          baseName: 'tollgate_operator_sign_in',
          sameSite: 'strict',
          plainPath: '/operator/api/sign-in/oidc',
        },
      ),
      operatorLifetimes: {
        idleTimeoutSec,
        lifetimeSec,
        byProvider: { idleTimeoutSec, lifetimeSec: providerSec },
      },
      operatorRelyingParty: url === undefined ? undefined : relyingPartyOf(url),
      fourEyes: {
        mode: config.FOUR_EYES,
        exempt: config.FOUR_EYES_EXEMPT,
        creditPoints: config.FOUR_EYES_CREDIT_POINTS,
      },
    },
  };
}

/** Undefined without a provider; the settings are complete then (settings.ts). */
function oidcOf(config: Config): OidcSettings | undefined {
  const {
    OPERATORS_URL: url,
    OPERATORS_OIDC_ISSUER: issuer,
    OPERATORS_OIDC_CLIENT_ID: clientId,
    OPERATORS_OIDC_CLIENT_SECRET: clientSecret,
    OPERATORS_OIDC_GROUPS: groups,
  } = config;
  if (url === undefined || issuer === undefined || clientId === undefined || clientSecret === undefined) {
    return undefined;
  }
  const redirectUri = `${url}/oidc/callback`;
  return { issuer, clientId, clientSecret, groups, redirectUri, signedOutUri: `${url}/` };
}
