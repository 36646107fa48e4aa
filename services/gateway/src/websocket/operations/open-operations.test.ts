import { expect, test } from '@jest/globals';
import { payerOf, token } from '../../../test/suite/open-subscriptions.ts';
import { STOPPED } from '../protocol/close-codes.ts';
import { OpenOperations } from './open-operations.ts';
import type { Operation, OperationState } from './open-operations.ts';

/** The table at the head of OpenOperations. */
const ALLOWED: Record<OperationState, readonly string[]> = {
  opening: ['sent'],
  sent: ['answered', 'abandon'],
  answered: ['completed'],
  completed: [],
  abandoned: [],
  ended: [],
};

const TRANSITIONS = {
  sent: (all: OpenOperations, one: Operation) => {
    all.sent(one, 'upstream');
  },
  answered: (all: OpenOperations, one: Operation) => {
    all.answered(one);
  },
  completed: (all: OpenOperations, one: Operation) => {
    all.completed(one);
  },
  abandon: (all: OpenOperations, one: Operation) => {
    all.abandon(one);
  },
};

const PATHS: Record<OperationState, readonly (keyof typeof TRANSITIONS)[]> = {
  opening: [],
  sent: ['sent'],
  answered: ['sent', 'answered'],
  completed: ['sent', 'answered', 'completed'],
  abandoned: ['sent', 'abandon'],
  ended: [],
};

async function inState(state: OperationState) {
  const lease = { release: () => undefined, handOver: () => null };
  const operations = new OpenOperations({
    metering: {
      admit: () => Promise.resolve({ rateLimitState: { pointsRemaining: null, rate: null }, lease }),
      record: () => Promise.resolve(null),
      primePayer: () => Promise.resolve(),
      readPointsLeft: () => Promise.resolve(null),
      settleIntervalMs: 5_000,
      pointsPerMinute: 0,
      settlementTimeout: { timeoutMs: 1_000, unacknowledged: 'refuse' },
    },
    principal: { token, payer: payerOf(1) },
    onExhausted: () => undefined,
    onSlotLost: () => undefined,
    onOperations: () => undefined,
  });
  const operation = operations.open({
    id: 'a',
    type: 'query',
    counted: null,
    name: null,
    trace: null,
    estimatedPoints: null,
  });
  await operations.admit(operation, 1);
  for (const step of PATHS[state]) TRANSITIONS[step](operations, operation);
  if (state === 'ended') operations.end([operation], STOPPED);
  expect(operation.state).toBe(state);
  return { operations, operation };
}

test.each(Object.keys(PATHS) as OperationState[])(
  'an operation that is %s changes as the table says, and any other change throws and leaves it as it was',
  async (state) => {
    for (const [name, change] of Object.entries(TRANSITIONS)) {
      const { operations, operation } = await inState(state);
      const act = () => {
        change(operations, operation);
      };
      if (ALLOWED[state].includes(name)) {
        expect(act).not.toThrow();
        continue;
      }
      expect(act).toThrow("an operation can't become");
      expect(operation.state).toBe(state);
    }
  },
);

test.each(Object.keys(PATHS) as OperationState[])(
  'an operation that is %s can end, and is then found by no id',
  async (state) => {
    const { operations, operation } = await inState(state);
    operations.end([operation], STOPPED);
    expect(operation.state).toBe('ended');
    expect([operations.size, operations.all(), operations.underWay()]).toEqual([0, [], []]);
    expect([operations.ofCaller('a'), operations.ofUpstream('upstream')]).toEqual([undefined, undefined]);
  },
);
