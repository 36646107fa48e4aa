import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { HttpRequest } from '@tollgate/plain-http/message';
import type { PayerEntitlement } from '../ledger/principal.ts';

/** Who calls a tool, and by which request. */
export type McpCaller = {
  req: HttpRequest;
  requestId: string;
  /** Aborted once the caller has gone. */
  signal: AbortSignal;
  token: ActiveToken;
  /** Null if the account may not call at the moment, and a call will say why. */
  payer: PayerEntitlement | null;
  /** Whether it calls a tool, and doesn't ask which there are. */
  isCall: boolean;
};
