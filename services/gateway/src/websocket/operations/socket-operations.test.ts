import { expect, test } from '@jest/globals';
import { Problem } from '@tollgate/http/problem';
import fc from 'fast-check';
import { UNUSED, payerOf, token } from '../../../test/suite/open-subscriptions.ts';
import type { LiveUsage } from '../../ledger/record-script.ts';
import type { OperationType } from '../../operation-reader/document-types.ts';
import { TERMINATED, closeForUpstream, tracedEnd } from '../protocol/close-codes.ts';
import { chosenProtocol } from '../protocol/protocol.ts';
import { createUpstreamIds } from '../upstream/upstream-ids.ts';
import type { UpstreamListener } from '../upstream/upstream-connector.ts';
import { SocketOperations } from './socket-operations.ts';
import { createStatedPoints } from './stated-points.ts';

const TYPES: readonly OperationType[] = ['query', 'subscription', 'unknown'];
const ANSWER_TIMEOUT_MS = 1_000;

const pick = fc.nat({ max: 20 });
const callersId = fc.constantFrom('a', 'b', 'c');
const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('start'), id: callersId, type: fc.constantFrom(...TYPES) }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('stop'), id: callersId }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('admit'), isRefused: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('connect'), fails: fc.constantFrom(false, false, false, true) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('say'),
      to: pick,
      type: fc.constantFrom('next', 'next', 'complete', 'error'),
      points: fc.constantFrom(undefined, 0, 5),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('acknowledge'), isUsedUp: fc.constantFrom(false, false, true) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('lose'), code: fc.constantFrom(1006, 1011, 4444) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('payer'),
      payerId: fc.constantFrom(1, 2),
      reservesPoints: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('tick'), lateMs: fc.constantFrom(0, 2 * ANSWER_TIMEOUT_MS) }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'hang up' } as const) },
  { weight: 1, arbitrary: fc.constant({ does: 'give up' } as const) },
);

type Event =
  | { does: 'start'; id: string; type: OperationType }
  | { does: 'stop'; id: string }
  | { does: 'admit'; isRefused: boolean }
  | { does: 'connect'; fails: boolean }
  | { does: 'say'; to: number; type: string; points: number | undefined }
  | { does: 'acknowledge'; isUsedUp: boolean }
  | { does: 'lose'; code: number }
  | { does: 'payer'; payerId: number; reservesPoints: boolean }
  | { does: 'tick'; lateMs: number }
  | { does: 'hang up' }
  | { does: 'give up' };

type Sent = { type: OperationType; isAnswered: boolean };

/** What is at the upstream, as the upstream sees it, on one connection. */
function connection(allSent: Sent[]) {
  const open = new Map<string, Sent>();
  return {
    open,
    socket: {
      ids: createUpstreamIds(),
      checkAlive: () => undefined,
      stalledMs: () => 0,
      send: (text: string) => {
        const { id, type, payload } = JSON.parse(text) as {
          id: string;
          type: string;
          payload?: { is: OperationType };
        };
        if (payload === undefined) {
          expect([type, open.delete(id)]).toEqual(['complete', true]);
          return;
        }
        expect(open.has(id)).toBe(false);
        const sent = { type: payload.is, isAnswered: false };
        open.set(id, sent);
        allSent.push(sent);
      },
    },
  };
}

type Connection = ReturnType<typeof connection>;

/** A socket's operations with everything around them under the test's control. */
function scripted() {
  const sent: Sent[] = [];
  const slots: { givenBack: number }[] = [];
  const traces: { ends: number }[] = [];
  const requests = { calls: 0, metered: 0 };
  const toCaller: string[] = [];
  const admissions: PromiseWithResolvers<undefined>[] = [];
  const connecting: PromiseWithResolvers<Connection['socket']>[] = [];
  const unacknowledged: ((live: LiveUsage) => void)[] = [];
  const protocol = chosenProtocol(['graphql-transport-ws']);
  if (protocol === undefined) throw new Error('the protocol is known');
  let listener: UpstreamListener | undefined;
  let current: Connection | null = null;
  let open = 0;
  let started = 0;
  let isOver = false;

  function slot() {
    const held = { givenBack: 0 };
    slots.push(held);
    const giveBack = () => {
      held.givenBack += 1;
    };
    const handOver = () => {
      giveBack();
      return { key: 'payer', member: String(slots.length) };
    };
    return { rateLimitState: { pointsRemaining: null, rate: null }, lease: { release: giveBack, handOver } };
  }

  function finish(): void {
    isOver = true;
    operations.finish(tracedEnd(TERMINATED));
  }

  const operations: SocketOperations = new SocketOperations(
    {
      rules: {
        maxOperations: 4,
        subscriptionsOnly: false,
        bufferMaxBytes: 1_000,
        answerTimeoutMs: ANSWER_TIMEOUT_MS,
        wholeTimeoutMs: 0,
      },
      readOne: (payload) => ({ type: payload['is'] as OperationType, counted: null }),
      documentsOf: () => ({
        whyUntrusted: null,
        withTexts: (request) => ({ request, found: null, textBytes: 0, namesDocument: false }),
      }),
      checkPrice: () => 1,
      missingPoints: null,
      estimateRate: { checkCall: () => undefined, takeRefused: () => undefined },
      metering: {
        admit: async () => {
          const admission = Promise.withResolvers<undefined>();
          admissions.push(admission);
          await admission.promise;
          return slot();
        },
        record: (usage, _lane, lease) => {
          requests[lease === undefined ? 'metered' : 'calls'] += usage.requests;
          return new Promise((resolve) => unacknowledged.push(resolve));
        },
        primePayer: () => Promise.resolve(),
        readPointsLeft: () => Promise.resolve(null),
        settleIntervalMs: 5_000,
        pointsPerMinute: 0,
        settlementTimeout: { timeoutMs: 60_000, unacknowledged: 'refuse' },
        onCompared: () => undefined,
      },
      pricing: { statedPoints: createStatedPoints('points'), defaultPoints: 1 },
      openUpstream: (_caller, opened) => {
        listener = opened;
        return {
          get socket() {
            return current?.socket ?? null;
          },
          connected: () => {
            if (current !== null) return Promise.resolve(current.socket);
            const asked = Promise.withResolvers<Connection['socket']>();
            connecting.push(asked);
            return asked.promise;
          },
          pause: () => undefined,
          resume: () => undefined,
          isPaused: () => false,
          resumedMs: () => 0,
          close: () => {
            current = null;
          },
        };
      },
      counts: {
        onOperations: (change) => {
          open += change;
        },
        onPassedOn: () => undefined,
      },
    },
    {
      protocol,
      facts: {
        rawHeaders: [],
        httpVersion: '1.1',
        query: '',
        socket: { remoteAddress: '127.0.0.1' },
        trusted: false,
        clientAddress: '127.0.0.1',
      },
      requestId: 'request',
      trace: {
        operation: () => {
          const trace = { ends: 0 };
          traces.push(trace);
          return { begin: () => undefined, end: () => (trace.ends += 1) };
        },
      } as never,
      initPayload: {},
      principal: { token, payer: payerOf(1) },
      source: { pause: () => undefined, resume: () => undefined },
      send: (data) => toCaller.push(data.toString()),
      end: finish,
      endSoon: () => undefined,
      onFailure: () => undefined,
      onRefused: () => undefined,
    },
  );

  function connect(): void {
    if (connecting.length === 0) return;
    current = connection(sent);
    for (const { resolve } of connecting.splice(0)) resolve(current.socket);
  }

  function say(to: number, type: string, points?: number): void {
    const ids = [...(current?.open.keys() ?? [])];
    const id = ids[to % ids.length];
    const said = id === undefined ? undefined : current?.open.get(id);
    if (id === undefined || said === undefined) return;
    said.isAnswered = true;
    if (type !== 'next') current?.open.delete(id);
    const payload = points === undefined ? {} : { extensions: { points } };
    const bytes = Buffer.from(JSON.stringify({ id, type, payload }));
    listener?.onMessage({ id, type, payload }, bytes);
  }

  function act(does: Event): void {
    switch (does.does) {
      case 'start':
        if (isOver) return;
        started += 1;
        operations.start({ type: 'subscribe', id: does.id, payload: { is: does.type } }, 10);
        return;
      case 'stop':
        if (!isOver) operations.stop(does.id);
        return;
      case 'admit':
        if (does.isRefused) admissions.shift()?.reject(new Problem('session_limit_exceeded'));
        else admissions.shift()?.resolve(undefined);
        return;
      case 'connect':
        if (!does.fails) connect();
        else for (const { reject } of connecting.splice(0)) reject(new Problem('upstream_unreachable'));
        return;
      case 'say':
        say(does.to, does.type, does.points);
        return;
      case 'acknowledge':
        unacknowledged.shift()?.({ ...UNUSED, points: does.isUsedUp ? 100 : 0 });
        return;
      case 'lose':
        if (current === null) return;
        current = null;
        listener?.onLost({ how: 'answered', close: closeForUpstream(does.code, ''), wasReady: true });
        return;
      case 'payer':
        operations.refreshPayer({
          ...payerOf(does.payerId, { points_limit: 50 }),
          reservesPoints: does.reservesPoints,
        });
        return;
      case 'tick':
        operations.tick(performance.now() + does.lateMs, 0);
        return;
      case 'hang up':
        finish();
        return;
      case 'give up':
        operations.giveUp();
    }
  }

  return {
    operations,
    sent,
    slots,
    traces,
    requests,
    toCaller,
    admissions,
    connecting,
    unacknowledged,
    act,
    open: () => open,
    started: () => started,
  };
}

/** Lets promises that are settled go on. */
const flush = () => new Promise((resolve) => setImmediate(resolve));

/** The messages that end an operation for its caller. */
const endsIn = (messages: readonly string[]) =>
  messages.filter((text) => ['complete', 'error'].includes((JSON.parse(text) as { type: string }).type))
    .length;

test('in any order of events each operation ends once, is charged once, and gives each slot back once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 60, size: 'max' }), async (events) => {
      const socket = scripted();
      for (const one of events) {
        socket.act(one);
        await flush();
      }
      socket.act({ does: 'hang up' });
      socket.act({ does: 'give up' });
      for (const { reject } of socket.connecting) reject(new Problem('upstream_unreachable'));
      while (socket.admissions.length + socket.unacknowledged.length > 0) {
        socket.act({ does: 'admit', isRefused: false });
        socket.act({ does: 'acknowledge', isUsedUp: false });
        await flush();
      }
      await flush();
      expect([socket.operations.size, socket.open()]).toEqual([0, 0]);
      expect(socket.traces.filter(({ ends }) => ends !== 1)).toEqual([]);
      expect(socket.slots.filter(({ givenBack }) => givenBack !== 1)).toEqual([]);
      const calls = socket.sent.filter(({ type }) => type === 'query');
      const metered = socket.sent.filter(({ type }) => type !== 'query');
      expect(socket.requests.calls).toBe(calls.filter(({ isAnswered }) => isAnswered).length);
      expect(socket.requests.metered).toBeLessThanOrEqual(metered.length);
      expect(socket.requests.metered).toBeGreaterThanOrEqual(
        metered.filter(({ isAnswered }) => isAnswered).length,
      );
      // One for each that was opened, refused before that, or cut short; never a second.
      expect(endsIn(socket.toCaller)).toBeLessThanOrEqual(socket.started());
    }),
    { numRuns: 500 },
  );
});
