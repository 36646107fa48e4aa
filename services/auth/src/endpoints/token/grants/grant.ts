import type { Form } from '@tollgate/http/form';
import type { AuthenticClient } from '../../../client/authenticator.ts';
import type { OAuthError } from '../../../oauth/oauth-error.ts';

/** A way to get a token: one file each, which has its parameters, its checks and what it issues. */
export type Grant = {
  type: string;
  /** What is wrong with the form, apart from the client; undefined if nothing is. No I/O. */
  check: (form: Form) => OAuthError | undefined;
  /**
   * Issues a token. Null if the client was only remembered (`json`) and has changed since.
   * @throws {Problem} too_many_requests; service_unavailable
   */
  issue: (authentic: AuthenticClient, form: Form) => Promise<string | null>;
};
