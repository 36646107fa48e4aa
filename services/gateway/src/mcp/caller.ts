import type { CallRules } from '@tollgate/contracts/entitlement';
import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { HttpRequest } from '@tollgate/plain-http/message';

/** Who calls a tool, and by which request. */
export type McpCaller = {
  req: HttpRequest;
  requestId: string;
  /** Aborted once the caller has gone. */
  signal: AbortSignal;
  token: ActiveToken;
  /** Of the payer's plan; null if the account may not call at the moment, and a call will say why. */
  callRules: CallRules | null;
  /** Whether it calls a tool, and doesn't ask which there are. */
  isCall: boolean;
};
