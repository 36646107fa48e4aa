import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newOwner } from '../../test/suite/console.ts';
import { assertDocumented, ownContract } from '../../test/suite/contract/contract.ts';
import type { ContractOperation } from '../../test/suite/contract/contract.ts';
import { callerOf } from '../../test/suite/contract/fuzz-caller.ts';
import { goodRequest, requestsOf, send } from '../../test/suite/contract/fuzz-request.ts';
import { openPublicDoor } from '../../test/suite/stand-ins/public-door.ts';
import type { PublicDoor } from '../../test/suite/stand-ins/public-door.ts';

/**
 * Every operation of the API's document, called through the gateway with requests made from its schemas and with
 * broken ones: no 5xx, no answer that the document doesn't have, and nothing accepted that a schema refuses.
 */

const RUNS = 6;

/** They need the token of a mail, which the suites of people and teams read. */
const BY_MAIL = new Set([
  'verifyEmail',
  'resetPassword',
  'lookUpInvitation',
  'acceptInvitationByToken',
  'declineInvitationByToken',
]);

/** They need an authenticator or a code of one, which the suites of two-factor have. */
const BY_FACTOR = new Set([
  'signInWithTotp',
  'signInWithRecoveryCode',
  'signInWithPasskey',
  'confirmSessionWithTotp',
  'confirmSessionWithRecoveryCode',
  'confirmSessionWithPasskey',
  'confirmTotp',
  'addPasskey',
]);

/** They need an identity provider, which the suite of single sign-on has. */
const BY_PROVIDER = new Set([
  'beginSso',
  'signInBySso',
  'setTeamSso',
  'removeTeamSso',
  'testTeamSso',
  'requireTeamSso',
  'stopRequiringTeamSso',
]);

/** They need payments, which the suites of purchases, subscriptions and top-ups have. */
const BY_PAYMENT = new Set([
  'beginPurchase',
  'getPurchase',
  'beginSubscription',
  'getSubscriptionCheckout',
  'linkInvoice',
  'openPaymentPortal',
  'buyTeamSlots',
  'previewTeamSlots',
  'previewUpgrade',
  'upgradePlan',
  'setTopUp',
  'setOverage',
  'stopTopUp',
]);

/** One can be in no team or make one, not both; there is another operation for the first. */
const NOT_IN_A_TEAM = new Set(['getTeam', 'renameTeam', 'dissolveTeam']);

const contract = ownContract();

let door: PublicDoor;

beforeAll(async () => {
  door = await openPublicDoor();
});

afterAll(() => door.close());

describe.each(
  contract.operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
)('%s', (_, operation) => {
  test('answers as documented, whatever it is sent', async () => {
    const answered = await fuzz(operation);
    const { operationId } = operation;
    if (
      !BY_MAIL.has(operationId) &&
      !BY_FACTOR.has(operationId) &&
      !BY_PROVIDER.has(operationId) &&
      !BY_PAYMENT.has(operationId) &&
      !NOT_IN_A_TEAM.has(operationId)
    ) {
      expect(Math.min(...answered)).toBeLessThan(400);
    }
  });
});

test('every path names in a 405 the methods that it is documented with', async () => {
  const { browser } = await newOwner(door.suite);
  const byPath = Map.groupBy(contract.operations, ({ path }) => path);
  for (const [path, operations] of byPath) {
    const target = path.replaceAll(/\{\w+\}/g, '1');
    const headers = { cookie: browser.cookie ?? '' };
    const response = await fetch(`${door.url}${target}`, { method: 'OPTIONS', headers });
    const allowed = (response.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
    const documented = operations.map(({ method }) => method).toSorted();
    expect([path, response.status, allowed.toSorted()]).toEqual([path, 405, documented]);
  }
});

/** @returns the statuses that were met */
async function fuzz(operation: ContractOperation): Promise<Set<number>> {
  const statuses = new Set<number>();
  const caller = await callerOf(operation, door.suite);
  // What the data API takes is its own, and so is what it makes of it.
  const isOpen = 'default' in operation.responses;
  // What that could not run has no price, and an answer that says so.
  const takesAny = isOpen || operation.path.endsWith('/estimate');
  await fc.assert(
    fc.asyncProperty(requestsOf(operation, caller, contract), async (asked) => {
      const answer = await send(door.url, asked);
      statuses.add(answer.status);
      // A refusal of Tollgate's has a request id.
      if (isOpen && answer.status !== 200 && !answer.text.includes('"request_id"')) return;
      const path = new URL(`${door.url}${asked.target}`).pathname;
      assertDocumented(asked.method, path, answer);
      expect(answer.status).toBeLessThan(500);
      if (!asked.valid && !takesAny) expect(answer.status).toBeGreaterThanOrEqual(400);
    }),
    { numRuns: RUNS, examples: [[goodRequest(operation, caller)]] },
  );
  return statuses;
}
