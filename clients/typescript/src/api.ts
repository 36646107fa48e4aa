/** Responses of `GET /api/usage` and `GET /api/credits`, as docs/openapi.json describes them. */

export type Usage = {
  account_id: number;
  /** The account that pays: the manager's, in a team. */
  payer_id: number;
  status: 'active' | 'grace' | 'blocked' | 'expired';
  billing_period: {
    started_at: string;
    /** Inclusive. */
    ended_at: string;
    plan_name: string;
    product: { name: string } | null;
    /** Such as `points_limit`; 0 without such a limit. */
    limits: Record<string, number>;
    /** Such as `points_usage`. */
    usage: Record<string, number>;
    description: Record<string, unknown>;
  };
};

export type Credits = {
  account_id: number;
  payer_id: number;
  credits: {
    points_remaining: number;
    /** Further points up to the cap, which are charged by use. */
    overage_points_remaining: number;
    overuse_points: number;
    grants: {
      credit_id: number;
      status: string;
      points: number;
      points_remaining: number;
      source: string;
      priority: number;
      effective_at: string;
      expires_at: string | null;
      note: string | null;
    }[];
  };
};

/** Of `/graphql/estimate`: what a call would cost at most, and whether the plan would admit it. */
export type Estimate = {
  /** Null if it can't be computed. */
  points: number | null;
  points_remaining: number | null;
  allowed: boolean;
  /** Why not: a code of docs/errors.md. */
  reason: string | null;
  /** Whether the cost can't exceed `points`. */
  bounded: boolean;
  /** The fields that cost most. */
  fields: Record<string, unknown>[];
};
