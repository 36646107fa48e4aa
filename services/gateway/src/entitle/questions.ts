import { entitlementSchema } from '@tollgate/contracts/entitlement';
import type { Entitlement } from '@tollgate/contracts/entitlement';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import type { AccountOutage } from './account-outage.ts';

type QuestionsOptions = {
  account: Pick<PrivateApi, 'get'>;
  outage: Pick<AccountOutage, 'answered' | 'failed'>;
  /** Told of each answer that no change has overtaken; `askedMs` is of performance.now(). */
  onAnswer: (accountId: number, answer: Entitlement, askedMs: number) => void;
  onLookup: ((outcome: 'joined' | 'miss') => void) | undefined;
};

/** Questions to account about entitlements, one at a time for each account. */
type Questions = {
  /** @throws {Problem} (the promise) service_unavailable */
  ask: (accountId: number, requestId: string) => Promise<Entitlement>;
  /** An answer that is on its way about this account, or about one that it pays for, is out of date. */
  overtake: (changed: number | 'all') => void;
};

type Question = {
  /** Of which accounts a change was told since account was asked. */
  changed: Set<number>;
  allChanged: boolean;
  answer: Promise<Entitlement> | undefined;
};

/** Between an answer and its use the entitlement can change, and then account is asked again; not for ever. */
const ATTEMPTS = 3;

export function createQuestions({ account, outage, onAnswer, onLookup }: QuestionsOptions): Questions {
  const inFlight = new Map<number, Question>();

  async function answerOf(accountId: number, requestId: string): Promise<Entitlement> {
    const path = `/private/entitlements/${String(accountId)}`;
    try {
      const answer = (await account.get(path, entitlementSchema, requestId)) ?? noAccount(accountId);
      outage.answered();
      return answer;
    } catch (error) {
      outage.failed(error);
      throw error;
    }
  }

  async function ask(accountId: number, question: Question, requestId: string): Promise<Entitlement> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      question.changed.clear();
      question.allChanged = false;
      const askedMs = performance.now();
      const answer = await answerOf(accountId, requestId);
      if (isOvertaken(question, answer)) continue;
      onAnswer(accountId, answer, askedMs);
      return answer;
    }
    throw new Problem('service_unavailable', { cause: new Error('changes came during every answer') });
  }

  return {
    ask: (accountId, requestId) => {
      const pending = inFlight.get(accountId)?.answer;
      onLookup?.(pending === undefined ? 'miss' : 'joined');
      if (pending !== undefined) return pending;
      const question: Question = { changed: new Set(), allChanged: false, answer: undefined };
      inFlight.set(accountId, question);
      question.answer = ask(accountId, question, requestId).finally(() => inFlight.delete(accountId));
      return question.answer;
    },
    overtake: (changed) => {
      for (const question of inFlight.values()) {
        if (changed === 'all') question.allChanged = true;
        else question.changed.add(changed);
      }
    },
  };
}

function isOvertaken({ changed, allChanged }: Question, { account_id, payer_id }: Entitlement): boolean {
  return allChanged || changed.has(account_id) || changed.has(payer_id);
}

/** A deleted account whose token still lives: like one that never had a period. */
function noAccount(accountId: number): Entitlement {
  return {
    account_id: accountId,
    payer_id: accountId,
    status: 'none',
    valid_until: null,
    billing_period: null,
  };
}
