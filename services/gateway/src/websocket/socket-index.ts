import type { Revocation } from '@tollgate/contracts/revocation';
import { accessTokenHash } from '@tollgate/access-token';
import { Problem } from '@tollgate/problem';
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
  /** Those whose token a revocation may have ended. */
  concernedBy: (what: Revocation | 'all') => readonly CallerSocket[];
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
  const byAddress = createGroups<string>();
  const byAccount = createGroups<number>();
  const byClient = createGroups<string>();
  const byToken = createGroups<string>();

  function forgetAddress(socket: CallerSocket): void {
    if (unidentified.delete(socket)) byAddress.remove(socket.address, socket);
  }

  return {
    all,
    accounts: byAccount.keys,
    ofAccount: (accountId) => [...byAccount.of(accountId)],
    concernedBy: (what) => {
      if (what === 'all') return [...all];
      return [...(what.kind === 'client' ? byClient.of(what.client_id) : byToken.of(what.token_hash))];
    },
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
    identified: (socket, { token, active }) => {
      forgetAddress(socket);
      byAccount.add(active.account_id, socket);
      byClient.add(active.client_id, socket);
      byToken.add(accessTokenHash(token), socket);
    },
    remove: (socket) => {
      all.delete(socket);
      forgetAddress(socket);
      if (socket.identity === null) return;
      const { token, active } = socket.identity;
      byAccount.remove(active.account_id, socket);
      byClient.remove(active.client_id, socket);
      byToken.remove(accessTokenHash(token), socket);
    },
  };
}

type Groups<K> = {
  keys: () => Iterable<K>;
  of: (key: K) => ReadonlySet<CallerSocket>;
  add: (key: K, socket: CallerSocket) => void;
  remove: (key: K, socket: CallerSocket) => void;
};

const NONE: ReadonlySet<CallerSocket> = new Set();

/** Sockets by a key. A revocation must not have to look at every socket there is. */
function createGroups<K>(): Groups<K> {
  const groups = new Map<K, Set<CallerSocket>>();
  return {
    keys: () => groups.keys(),
    of: (key) => groups.get(key) ?? NONE,
    add: (key, socket) => {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, new Set([socket]));
      else group.add(socket);
    },
    remove: (key, socket) => {
      const group = groups.get(key);
      group?.delete(socket);
      if (group?.size === 0) groups.delete(key);
    },
  };
}

function noRoom(reason: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(reason) });
}
