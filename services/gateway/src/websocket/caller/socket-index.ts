import { Problem } from '@tollgate/http/problem';
import { createGroups } from '../../authenticate/groups.ts';
import type { CallerSocket } from './caller-socket.ts';
import type { Identity } from './identify.ts';

export type SocketLimits = {
  maxSockets: number;
  maxSocketsPerAccount: number;
  /** Of those that have not shown a token yet: in all, and from one address. */
  maxUnidentified: number;
  maxUnidentifiedPerAddress: number;
};

export type SocketIndex = {
  all: ReadonlySet<CallerSocket>;
  accounts: () => Iterable<number>;
  ofAccount: (accountId: number) => readonly CallerSocket[];
  /** @throws {Problem} service_unavailable where this gateway has no room for another socket. */
  assertRoom: () => void;
  /**
   * @throws {Problem} service_unavailable where too many sockets have no token yet, too_many_requests where too
   * many of them come from one address.
   */
  assertRoomAt: (address: string) => void;
  /** @throws {Problem} too_many_requests where the account has as many as it may. */
  assertRoomOf: (identity: Identity) => void;
  add: (socket: CallerSocket) => void;
  /** Its identity is known from now on. */
  identified: (socket: CallerSocket, identity: Identity) => void;
  remove: (socket: CallerSocket) => void;
};

/** The open sockets of this gateway, and whose they are. */
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
    assertRoomOf: ({ active }) => {
      if (byAccount.of(active.account_id).size < limits.maxSocketsPerAccount) return;
      throw new Problem('too_many_requests', { detail: 'The account has too many open WebSockets' });
    },
    add: (socket) => {
      all.add(socket);
      unidentified.add(socket);
      byAddress.add(socket.address, socket);
    },
    identified: (socket, { active }) => {
      forgetAddress(socket);
      byAccount.add(active.account_id, socket);
    },
    remove: (socket) => {
      all.delete(socket);
      forgetAddress(socket);
      if (socket.identity === null) return;
      byAccount.remove(socket.identity.active.account_id, socket);
    },
  };
}

function noRoom(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
