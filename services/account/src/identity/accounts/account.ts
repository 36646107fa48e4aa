/** An account as its owner's requests need it. */
export type Account = {
  account_id: number;
  email: string;
  name: string;
  password_hash: string;
  /** Null where nobody has shown yet that mail to the address reaches the owner. */
  email_verified_at: Date | null;
  blocked_at: Date | null;
};
