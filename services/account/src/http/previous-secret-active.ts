import { Problem } from '@tollgate/http/problem';

/** A rotation within the overlap of another one, of a client or of a webhook. `until`: when the previous secret ends. */
export function previousSecretActive(until: Date): Problem {
  const previous_secret_expires_at = until.toISOString();
  return new Problem('previous_secret_active', {
    detail: `The previous secret is valid until ${previous_secret_expires_at}. Wait, or end it first.`,
    extensions: { previous_secret_expires_at },
  });
}
