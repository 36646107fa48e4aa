import { newAccessToken } from '@tollgate/credentials/access-token';
import type { Form } from '@tollgate/http/form';
import { OAuthError } from '../../../oauth/oauth-error.ts';
import { SCOPE } from '../../../redis/token-record.ts';
import type { TokenIssuing } from '../../../token/token-issuing.ts';
import type { Grant } from './grant.ts';

export const CLIENT_CREDENTIALS = 'client_credentials';

/** RFC 6749, section 4.4. Parameter: `scope`, which must be the API's. */
export function createClientCredentialsGrant(options: {
  issuing: Pick<TokenIssuing, 'issue'>;
  tokenPrefix: string;
}): Grant {
  const { issuing, tokenPrefix } = options;
  return {
    type: CLIENT_CREDENTIALS,
    check: checkScope,
    issue: async (authentic) => {
      const accessToken = newAccessToken(tokenPrefix, authentic.client.client_id);
      return (await issuing.issue(accessToken, authentic)) === 'issued' ? accessToken : null;
    },
  };
}

function checkScope(form: Form): OAuthError | undefined {
  return form.get('scope') === SCOPE ? undefined : new OAuthError('invalid_scope');
}
