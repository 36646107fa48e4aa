import { createSingleFlight } from '@tollgate/cache/single-flight';
import { LRUCache } from 'lru-cache';
import { clientAnswerSchema } from '@tollgate/contracts/client-record';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { ClientChange } from '@tollgate/contracts/client-change';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import type { RunQueued } from '../abuse/look-up-queue.ts';
import { createRepair } from './repair.ts';
import type { ClientStore, LookUp, Noted, RememberedClient } from './client-store.ts';

export type ClientDirectory = {
  /**
   * A client's record, or null if account knows none. `clientId` must be a UUID in lower case. If there is a record,
   * Redis holds the client's revocation epoch and its manual tokens afterwards, and none that was revoked by itself.
   * @throws {Problem} service_unavailable if Redis or account is unavailable
   */
  find: (clientId: string, requestId: string) => Promise<ClientRecord | null>;
  /** The same for a caller that has invented too many clients: only clients known within a day skip the queue. */
  findQueued: (
    clientId: string,
    caller: { requestId: string; addressGroup: string },
  ) => Promise<ClientRecord | null>;
  remembered: (clientId: string) => RememberedClient | null;
  /**
   * The client has changed in account: from now on `find` returns the new record, and tokens below the epoch are dead.
   * @throws {Problem} service_unavailable if Redis is unavailable
   */
  change: (change: ClientChange) => Promise<void>;
};

type Answer = { record: ClientRecord | null } & Noted;

const ATTEMPTS = 5;

/**
 * All auths share records through Redis; a generation replaces the events of an event cache
 * (docs/design/revocation.md). Unknown clients stay in the process, within a bound: Redis must not fill with invented
 * ids.
 */
export function createClientDirectory(options: {
  store: ClientStore;
  account: Pick<PrivateApi, 'get' | 'postJson'>;
  cacheTtlMs: number;
  unknownMaxEntries: number;
  queued: RunQueued;
  logger: Pick<Logger, 'error'>;
}): ClientDirectory {
  const { store, account, cacheTtlMs, unknownMaxEntries, queued, logger } = options;
  const unknown = new LRUCache<string, true>({ max: unknownMaxEntries, ttl: cacheTtlMs });
  const singleFlight = createSingleFlight<string, Answer>();
  const repair = createRepair({ store, account, logger });

  async function load(
    clientId: string,
    { generation, verified }: LookUp,
    requestId: string,
  ): Promise<Answer> {
    const record = await account.get(`/private/clients/${clientId}`, clientAnswerSchema, requestId);
    if (record !== null && record.client_id !== clientId) throw unavailable('another client');
    if (record !== null && !verified) await repair.deleteRevoked(clientId, requestId);
    const outcome = await store.learn(clientId, generation, record);
    if (record === null && outcome.noted === 'learnt') unknown.set(clientId, true);
    if (outcome.noted === 'older') await repair.raiseEpoch(clientId, outcome.knownEpoch, requestId);
    return { record, ...outcome };
  }

  /** The generation is part of the key, so that no caller after a change joins a request from before it. */
  function loadOnce(clientId: string, lookUp: LookUp, requestId: string): Promise<Answer> {
    return singleFlight(`${clientId} ${lookUp.generation}`, () => load(clientId, lookUp, requestId));
  }

  async function find(clientId: string, requestId: string): Promise<ClientRecord | null> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // Redis is read for an unknown client too, so that timing doesn't tell it from a cached one.
      if (unknown.has(clientId)) {
        const { record } = await store.peek(clientId);
        if (record !== null || unknown.has(clientId)) return record;
      }
      const found = await store.read(clientId);
      if ('record' in found) return found.record;
      // Another call learnt it meanwhile; this one drew a new generation and would ask again.
      if (unknown.has(clientId)) return null;
      const { record, noted } = await loadOnce(clientId, found, requestId);
      if (noted === 'learnt') return record;
    }
    throw unavailable('a client that changed during every request');
  }

  return {
    find,
    findQueued: async (clientId, { requestId, addressGroup }) => {
      const { record, wasKnown } = await store.peek(clientId);
      if (record !== null || unknown.has(clientId)) return record;
      const look = () => find(clientId, requestId);
      return wasKnown ? look() : queued(addressGroup, look);
    },
    remembered: store.remembered,
    change: async (change) => {
      await store.change(change);
      unknown.delete(change.client_id);
    },
  };
}

function unavailable(what: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(`account answered with ${what}`) });
}
