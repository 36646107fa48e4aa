/** Asymmetric ones with which the identity provider may sign; what else it offers isn't taken. */
export const SIGNING_ALGORITHMS: readonly string[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
