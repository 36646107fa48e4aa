import type { ApplicationBudget } from '../../billing/budgets/store.ts';

export type Application = {
  application_id: number;
  /** Null for one that registered itself. */
  account_id: number | null;
  name: string;
  type: 'automatic' | 'manual' | 'authorization';
  token_lifespan_sec: number;
  client_id: string;
  status: 'active' | 'revoked';
  revocation_epoch: number;
  created_at: Date;
  /** To the minute. */
  last_used_at: Date | null;
  budget: ApplicationBudget | null;
  /** Of type `authorization`: it can't keep a secret, such as an app on a phone. */
  public_client: boolean;
  /** Of type `authorization`, where people are sent back to. */
  redirect_uris: string[];
  /** When an operator verified it, as people see it; null if none has. */
  verified_at: Date | null;
};

/** All but those that registered themselves. */
export type OwnedApplication = Application & { account_id: number };

export function isOwned(application: Application | undefined): application is OwnedApplication {
  return application !== undefined && application.account_id !== null;
}

/** Owners find only their own applications; a null owner is an operator, who finds all. */
export type ApplicationKey = { application_id: number; owner_id: number | null };

export type ApplicationFilter = {
  status: Application['status'] | null;
  type: Application['type'] | null;
  /** Part of the name or of the client id, in either case. */
  search: string | null;
};

export type LiveSecret = {
  secret_id: number;
  created_at: Date;
  /** Null until a rotation sets an end. */
  expires_at: Date | null;
};
