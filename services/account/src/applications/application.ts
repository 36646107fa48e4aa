/** An application that isn't deleted, as the store holds it. */
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

/** A client secret that is live, less what makes it one. */
export type LiveSecret = {
  secret_id: number;
  created_at: Date;
  /** Null while no rotation has set an end. */
  expires_at: Date | null;
};
