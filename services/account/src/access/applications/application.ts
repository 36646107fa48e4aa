/** An application that isn't deleted. */
export type Application = {
  application_id: number;
  account_id: number;
  name: string;
  type: 'automatic' | 'manual';
  token_lifespan_sec: number;
  client_id: string;
  status: 'active' | 'revoked';
  revocation_epoch: number;
  created_at: Date;
};

/** An owner finds their own applications only; a null owner is an operator, who finds all. */
export type ApplicationKey = { application_id: number; owner_id: number | null };

/** Null for any. */
export type ApplicationFilter = { status: Application['status'] | null; type: Application['type'] | null };

export type LiveSecret = {
  secret_id: number;
  created_at: Date;
  /** Null unless a rotation has set an end. */
  expires_at: Date | null;
};
