/**
 * Read at the first use: with its readers of certificates it is a tenth of what account's start costs, and few
 * processes meet a passkey.
 */
export const webauthn = async () => import('@simplewebauthn/server');

/** The same for what it reads attestations with. */
export const webauthnHelpers = async () => import('@simplewebauthn/server/helpers');
