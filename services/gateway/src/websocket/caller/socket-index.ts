import { Problem } from '@tollgate/http/problem';
import { createGroups } from '../../pipeline/authenticate/groups.ts';
import type { CallerSocket } from './caller-socket.ts';
import type { SocketPrincipal } from './identify.ts';

export type SocketLimits = {
  maxSockets: number;
  maxSocketsPerAccount: number;
  maxUnidentified: number;
  maxUnidentifiedPerAddress: number;
};

export type SocketIndex = {
  all: ReadonlySet<CallerSocket>;
  accounts: () => Iterable<number>;
  ofAccount: (accountId: number) => readonly CallerSocket[];
  /** @throws {Problem} service_unavailable if this gateway has too many sockets. */
  assertRoom: () => void;
  /** For sockets without a token. @throws {Problem} service_unavailable, or too_many_requests from one address. */
  assertRoomAt: (address: string) => void;
  /** @throws {Problem} too_many_requests if the account has too many sockets. */
  assertRoomOf: (principal: SocketPrincipal) => void;
  add: (socket: CallerSocket) => void;
  identified: (socket: CallerSocket, principal: SocketPrincipal) => void;
  remove: (socket: CallerSocket) => void;
};

export function createSocketIndex(limits: SocketLimits): SocketIndex {
  const all = new Set<CallerSocket>();
  const unidentified = new Set<CallerSocket>();
  const byAddress = createGroups<string, CallerSocket>();
  const byAccount = createGroups<number, CallerSocket>();

  function forgetAddress(socket: CallerSocket): void {
    if (unidentified.delete(socket)) byAddress.remove(socket.address, socket);
  }

  return {
    all,
    accounts: byAccount.keys,
    ofAccount: (accountId) => [...byAccount.of(accountId)],
    assertRoom: () => {
      if (all.size >= limits.maxSockets) throw noRoom('no room for a further WebSocket');
    },
    assertRoomAt: (address) => {
      if (unidentified.size >= limits.maxUnidentified) throw noRoom('too many WebSockets without a token');
      if (byAddress.of(address).size < limits.maxUnidentifiedPerAddress) return;
      throw new Problem('too_many_requests', { detail: 'Too many WebSockets without a token' });
    },
    assertRoomOf: ({ token }) => {
      if (byAccount.of(token.account_id).size < limits.maxSocketsPerAccount) return;
      throw new Problem('too_many_requests', { detail: 'The account has too many open WebSockets' });
    },
    add: (socket) => {
      all.add(socket);
      unidentified.add(socket);
      byAddress.add(socket.address, socket);
    },
    identified: (socket, { token }) => {
      forgetAddress(socket);
      byAccount.add(token.account_id, socket);
    },
    remove: (socket) => {
      all.delete(socket);
      forgetAddress(socket);
      if (socket.principal === null) return;
      byAccount.remove(socket.principal.token.account_id, socket);
    },
  };
}

function noRoom(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
