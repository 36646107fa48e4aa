export type Account = {
  account_id: number;
  email: string;
  name: string;
  password_hash: string;
  /** Null while the address is unverified. */
  email_verified_at: Date | null;
  blocked_at: Date | null;
  /** Null unless the owner is deleting the account. */
  deletion_due_at: Date | null;
};
