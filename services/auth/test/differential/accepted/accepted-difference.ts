/**
 * Where auth answers otherwise than oidc-provider, and why that stays so. The answers are `summary`'s lines.
 * A difference that isn't here fails the suite; so does one that no longer occurs.
 */
export type AcceptedDifference = {
  reason: string;
  ours: string;
  theirs: string;
  requests: readonly string[];
};
