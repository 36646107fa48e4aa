import type { Introspector, LiveToken } from '@tollgate/introspection';
import { invalidToken } from '@tollgate/http/problem';
import type { Entitle } from '../../pipeline/entitle/entitle.ts';
import type { Principal } from '../../ledger/principal.ts';
import type { SocketTrace } from '../../trace/socket-trace.ts';

export type SocketPrincipal = Principal & {
  token: LiveToken;
  bearerToken: string;
  /** Revocations received before the introspection: it may miss a later one. */
  revocationsSeen: number;
};

export type Identify = (
  bearerToken: string,
  requestId: string,
  trace: Pick<SocketTrace, 'begin'> | null,
  /** Called with an active token, even if its account is refused afterwards. */
  onActive?: (token: LiveToken) => void,
) => Promise<SocketPrincipal>;

/** Authenticates and entitles a caller. @throws {Problem} unauthorized, and what entitle and introspection throw. */
export function createIdentify(options: {
  introspect: Introspector['introspect'];
  entitle: Entitle;
  revocations: () => number;
}): Identify {
  return async (bearerToken, requestId, trace, onActive) => {
    const revocationsSeen = options.revocations();
    trace?.begin('authenticate');
    const token = await options.introspect(bearerToken, requestId);
    if (token === null) throw invalidToken();
    onActive?.(token);
    trace?.begin('entitle');
    return { token, bearerToken, payer: await options.entitle(token, requestId), revocationsSeen };
  };
}
