/** The account as authenticators know it (WebAuthn, section 5.4.3): nothing personal, and the same for all passkeys. */
export function userHandleOf(accountId: number): Buffer<ArrayBuffer> {
  return Buffer.from(`tollgate-account-${String(accountId)}`);
}
