import type { Introspector, LiveToken } from '@tollgate/introspection';
import { invalidToken } from '@tollgate/http/problem';
import type { PayerEntitlement, Entitle } from '../../entitle/entitle.ts';
import type { SocketTrace } from '../../trace/socket-trace.ts';

/** Who is behind a socket, and who pays. */
export type Identity = {
  token: string;
  active: LiveToken;
  payer: PayerEntitlement;
  /** How many revocations had come when it was asked for: it may miss a later one. */
  asOf: number;
};

export type Identify = (
  token: string,
  requestId: string,
  trace: Pick<SocketTrace, 'begin'> | null,
  /** Told of a token that is good, also where its account is refused afterwards. */
  onActive?: (active: LiveToken) => void,
) => Promise<Identity>;

/**
 * Parts 1 and 2 of a data call, for a token that came in any way.
 * @throws {Problem} unauthorized, and what entitle and introspection throw.
 */
export function createIdentify(parts: {
  introspect: Introspector['introspect'];
  entitle: Entitle;
  revocations: () => number;
}): Identify {
  return async (token, requestId, trace, onActive) => {
    const asOf = parts.revocations();
    trace?.begin('authenticate');
    const active = await parts.introspect(token, requestId);
    if (active === null) throw invalidToken();
    onActive?.(active);
    trace?.begin('entitle');
    return { token, active, payer: await parts.entitle(active.account_id, requestId), asOf };
  };
}
