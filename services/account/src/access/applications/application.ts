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

/**
 * Which application is meant. Where an owner asks it must be theirs, or it isn't there for them; null is an
 * operator, who reaches all.
 */
export type ApplicationKey = { application_id: number; owner_id: number | null };

/** Null for any. */
export type ApplicationFilter = { status: Application['status'] | null; type: Application['type'] | null };

/** A client secret that is live, less what makes it one. */
export type LiveSecret = {
  secret_id: number;
  created_at: Date;
  /** Null while no rotation has set an end. */
  expires_at: Date | null;
};
