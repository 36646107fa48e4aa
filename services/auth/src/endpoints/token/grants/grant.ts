import type { z } from 'zod';
import type { tokenResponseSchema } from '@tollgate/contracts/oauth';
import type { Form } from '@tollgate/http/form';
import { Problem } from '@tollgate/http/problem';
import type { Caller } from '../../../abuse/caller.ts';
import type { AuthenticClient } from '../../../client/authenticator.ts';
import type { OAuthError } from '../../../oauth/oauth-error.ts';

export type TokenResponse = z.output<typeof tokenResponseSchema>;

/** A way to get a token: one file each, which has its parameters, its checks and what it issues. */
export type Grant = {
  type: string;
  /** What is wrong with the form, apart from the client; undefined if nothing is. No I/O. */
  check: (form: Form) => OAuthError | Problem | undefined;
  /**
   * Issues a token. Null if the client was only remembered (`json`) and has changed since, or must be looked up.
   * @throws {OAuthError} unauthorized_client; invalid_grant, invalid_target
   * @throws {Problem} too_many_requests; service_unavailable
   */
  issue: (authentic: AuthenticClient, form: Form, callerOf: () => Caller) => Promise<TokenResponse | null>;
};

export function missing(name: string): Problem {
  return new Problem('invalid_request', { detail: `The required parameter ${name} is missing.` });
}
