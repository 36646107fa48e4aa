import type { Config } from '../config.ts';
import { createSessionCookie } from '../identity/sessions/session-cookie.ts';
import type { SessionCookie } from '../identity/sessions/session-cookie.ts';
import type { SessionLifetimes } from '../identity/sessions/session-store.ts';
import { relyingPartyOf } from '../identity/two-factor/passkeys/relying-party.ts';
import type { RelyingParty } from '../identity/two-factor/passkeys/relying-party.ts';
import { isLoopback } from './settings.ts';
import type { OperatorSite } from './settings.ts';

/** Who operators are, and their sessions. */
export function openOperators({ config }: { config: Config }): {
  needs: {
    operatorSite: OperatorSite;
    operatorCookie: SessionCookie;
    operatorLifetimes: SessionLifetimes;
    operatorRelyingParty: RelyingParty | undefined;
  };
} {
  const url = config.OPERATORS_URL;
  const isPlain = url !== undefined && url.startsWith('http:');
  return {
    needs: {
      operatorSite: {
        url,
        isLoopback: url !== undefined && isLoopback(new URL(url).hostname),
        allowsLocal: config.OPERATORS_LOCAL,
      },
      operatorCookie: createSessionCookie(
        { secure: !isPlain },
        { baseName: 'tollgate_operator', sameSite: 'strict', plainPath: '/operator' },
      ),
      operatorLifetimes: {
        idleTimeoutSec: config.OPERATOR_SESSION_IDLE_TIMEOUT_SEC,
        lifetimeSec: config.OPERATOR_SESSION_LIFETIME_SEC,
      },
      operatorRelyingParty: url === undefined ? undefined : relyingPartyOf(url),
    },
  };
}
