import { introspectionSchema } from '@tollgate/contracts/introspection';
import type { Introspection } from '@tollgate/contracts/introspection';
import type { PrivateApi } from '@tollgate/http/private-api-client';
import { Problem } from '@tollgate/http/problem';
import type { LiveToken } from './token-cache.ts';

/** A token that auth is asked about. */
export type Asked = { hash: string; applicationPart: string };

type Question = Asked & {
  /** The answer may be out of date. */
  dropped: boolean;
  /** The same of an answer that doesn't tell its token's epoch. */
  changed: boolean;
  answer: Promise<LiveToken | null>;
};

export type Questions = {
  /** While auth is being asked about a token, further callers wait for that answer. */
  ask: (asked: Asked & { token: string; requestId: string | undefined }) => Promise<LiveToken | null>;
  /** Answers that are on their way to these are out of date. */
  drop: (concerned: (asked: Asked) => boolean) => void;
  /** An application's tokens have other epochs to reach. */
  change: (applicationPart: string) => void;
};

/** Between an answer and its use the token can be revoked, and then auth is asked again; not for ever. */
const ATTEMPTS = 3;

/** The questions to auth that are under way. */
export function createQuestions(options: {
  auth: Pick<PrivateApi, 'postForm'>;
  onLookup: ((outcome: 'joined' | 'miss') => void) | undefined;
  /** `askedMs`: when the answer was asked for (performance.now()). */
  judge: (asked: Asked, answer: Introspection, askedMs: number) => LiveToken | null;
}): Questions {
  const { auth, onLookup, judge } = options;
  const inFlight = new Map<string, Question>();

  /** Asks auth until no revocation came between the question and its answer. */
  async function ask(question: Question, token: string, requestId: string | undefined) {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      question.dropped = false;
      question.changed = false;
      const askedMs = performance.now();
      const answer = await auth.postForm('/oauth2/introspect', { token }, introspectionSchema, requestId);
      if (!isOvertaken(question, answer)) return judge(question, answer, askedMs);
    }
    throw new Problem('service_unavailable', { cause: new Error('revocations came during every answer') });
  }

  return {
    ask: ({ hash, applicationPart, token, requestId }) => {
      const pending = inFlight.get(hash);
      onLookup?.(pending === undefined ? 'miss' : 'joined');
      if (pending !== undefined) return pending.answer;
      const answer = Promise.resolve(null);
      const question: Question = { hash, applicationPart, dropped: false, changed: false, answer };
      question.answer = ask(question, token, requestId).finally(() => inFlight.delete(hash));
      inFlight.set(hash, question);
      return question.answer;
    },
    drop: (concerned) => {
      for (const question of inFlight.values()) if (concerned(question)) question.dropped = true;
    },
    change: (applicationPart) => {
      for (const question of inFlight.values()) {
        if (question.applicationPart === applicationPart) question.changed = true;
      }
    },
  };
}

function isOvertaken({ dropped, changed }: Question, answer: Introspection): boolean {
  return dropped || (changed && !(answer.active && answer.revocation_epoch !== undefined));
}
