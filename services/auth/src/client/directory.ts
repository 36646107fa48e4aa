import { LRUCache } from 'lru-cache';
import { clientAnswerSchema } from '@tollgate/contracts/client-record';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import type { ClientChange } from '@tollgate/contracts/revocation';
import type { Logger } from '@tollgate/log';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import { createLookUpQueue } from './look-up-queue.ts';
import { createRepair } from './repair.ts';
import type { ClientStore, LookUp, Noted, RememberedClient } from './client-store.ts';

export type ClientDirectory = {
  /**
   * A client's record, or null where account knows none. `clientId` must be a UUID in lower case. Where there
   * is a record, Redis holds the client's revocation epoch and its tokens made by hand afterwards, for certain, and
   * none that was revoked by itself.
   * @throws {Problem} service_unavailable where Redis or account can't be asked
   */
  find: (clientId: string, requestId: string) => Promise<ClientRecord | null>;
  /**
   * The same for a caller that has made up too many clients: account is asked about few of its clients at one
   * moment, and the others are queued. Those that account has known within a day aren't.
   */
  findQueued: (clientId: string, requestId: string) => Promise<ClientRecord | null>;
  /** What this process remembers of a client, without I/O: see ClientStore. */
  recall: (clientId: string) => RememberedClient | null;
  /**
   * The client has changed in account: whoever asks from now on gets the new record, and tokens below the
   * epoch are dead. `change` is null where it isn't known what else has died.
   * @throws {Problem} service_unavailable where Redis can't be asked
   */
  change: (clientId: string, revocationEpoch: number, change: ClientChange | null) => Promise<void>;
};

type Answer = { record: ClientRecord | null } & Noted;

/** A client that changes more often than this within one look-up isn't one. */
const ATTEMPTS = 5;

/** Made-up clients take a small part of what account can answer. */
const QUEUE = { concurrency: 4, waitingMax: 1_000 };

/**
 * Client records of account's private API, kept in Redis. While account is being asked about a client, further
 * callers wait for that answer, unless the client has changed since it was asked. Failures aren't kept.
 *
 * That account knows no such client is kept by the process, within a bound: anybody can make ids up, and Redis
 * must not fill with them.
 */
export function createClientDirectory(options: {
  store: ClientStore;
  account: Pick<PrivateApi, 'get' | 'postJson'>;
  cacheTtlMs: number;
  unknownMaxEntries: number;
  logger: Pick<Logger, 'error'>;
}): ClientDirectory {
  const { store, account, cacheTtlMs, unknownMaxEntries, logger } = options;
  const unknown = new LRUCache<string, true>({ max: unknownMaxEntries, ttl: cacheTtlMs });
  const inFlight = new Map<string, Promise<Answer>>();
  const queued = createLookUpQueue(QUEUE);
  const repair = createRepair({ store, account, logger });

  async function ask(clientId: string, { generation, verified }: LookUp, requestId: string): Promise<Answer> {
    const record = await account.get(`/private/clients/${clientId}`, clientAnswerSchema, requestId);
    if (record !== null && record.client_id !== clientId) throw unavailable('another client');
    if (record !== null && !verified) await repair.deleteRevoked(clientId, requestId);
    const outcome = await store.learn(clientId, generation, record);
    if (record === null && outcome.noted === 'learnt') unknown.set(clientId, true);
    if (outcome.noted === 'older') await repair.raiseEpoch(clientId, outcome.knownEpoch, requestId);
    return { record, ...outcome };
  }

  /** The generation is part of the question: one that was asked before a change answers nobody after it. */
  function askOnce(clientId: string, lookUp: LookUp, requestId: string): Promise<Answer> {
    const question = `${clientId} ${lookUp.generation}`;
    const pending = inFlight.get(question);
    if (pending !== undefined) return pending;
    const asked = ask(clientId, lookUp, requestId).finally(() => inFlight.delete(question));
    inFlight.set(question, asked);
    return asked;
  }

  async function find(clientId: string, requestId: string): Promise<ClientRecord | null> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // Redis is asked for an unknown client too, so that it takes as long as one that is cached.
      if (unknown.has(clientId)) {
        const { record } = await store.peek(clientId);
        if (record !== null || unknown.has(clientId)) return record;
      }
      const found = await store.read(clientId);
      if ('record' in found) return found.record;
      // Learnt while this one read: it drew another generation, and would ask again.
      if (unknown.has(clientId)) return null;
      const { record, noted } = await askOnce(clientId, found, requestId);
      if (noted === 'learnt') return record;
    }
    throw unavailable('a client that changed during every look-up');
  }

  return {
    find,
    findQueued: async (clientId, requestId) => {
      const { record, wasKnown } = await store.peek(clientId);
      if (record !== null || unknown.has(clientId)) return record;
      return wasKnown ? find(clientId, requestId) : queued(() => find(clientId, requestId));
    },
    recall: store.recall,
    change: async (clientId, revocationEpoch, change) => {
      await store.change(clientId, revocationEpoch, change);
      unknown.delete(clientId);
    },
  };
}

function unavailable(what: string): Problem {
  return new Problem('service_unavailable', { cause: new Error(`account answered with ${what}`) });
}
