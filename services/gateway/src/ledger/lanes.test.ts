import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  LIVE_COUNTERS,
  usageBatchSchema,
  usageLane,
  usageLanesKey,
  usageLiveKey,
  usageShard,
  usageSnapshotSchema,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { LUA_DATA_SET, defineScript } from '@tollgate/redis/script';
import { waitFor } from '@tollgate/stack/wait-for';
import { startRedis } from '@tollgate/testbed/redis';
import type { OwnRedis } from '@tollgate/testbed/redis';
import { emptySnapshot } from '../../test/suite/stand-ins.ts';
import { createPrime, createPrimeLane } from './prime.ts';
import type { LastOfLane } from './prime.ts';
import type { Prime } from './prime.ts';
import { createPrimeFrom } from './prime-script.ts';
import { createSendBatch } from './record-script.ts';
import type { SendBatch } from './record-script.ts';
import { createUsageRecorder } from './record-usage.ts';
import type { UsageRecorder } from './record-usage.ts';

/** Of several shards; the last two share one. */
const PAYERS = [1, 2, 30, 63, 64, 65, 129];

type Fault = 'request lost' | 'reply lost';

type Step =
  /** Calls that finish in one turn of the event loop. */
  | { do: 'use'; gateway: number; uses: { payer: number; points: number }[]; fault?: Fault }
  /** Redis has no memory for the next batch of the gateway, until it has failed. */
  | { do: 'full'; gateway: number; payer: number }
  /** As after a day without a call. */
  | { do: 'forget'; payer: number }
  | { do: 'prime'; payer: number }
  /** account counts some of the lane's entries. */
  | { do: 'count'; lane: number; entries: number }
  /** Redis loses everything, after account has counted it. */
  | { do: 'empty' }
  /** The gateway ends as by kill -9 while its next batch is under way: before or after Redis has it. */
  | { do: 'kill'; gateway: number; payer: number; arrives: boolean }
  /** There are more lanes while a gateway records, and gateways go on with entitlements of before. */
  | { do: 'grow'; times: number; gateway: number; uses: { payer: number; points: number }[]; fault?: Fault }
  /** Entitlements of before the growth have ended. */
  | { do: 'refresh' };

const payer = fc.constantFrom(...PAYERS);
const gateway = fc.nat(4);
const uses = fc.array(fc.record({ payer, points: fc.nat(50) }), { minLength: 1, maxLength: 12 });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('use' as const), gateway, uses }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      gateway,
      uses,
      fault: fc.constantFrom<Fault>('request lost', 'reply lost'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('full' as const), gateway, payer }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forget' as const), payer }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('prime' as const), payer }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('count' as const), lane: fc.nat(63), entries: fc.nat(6) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('empty' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('kill' as const), gateway, payer, arrives: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grow' as const),
      times: fc.integer({ min: 2, max: 4 }),
      gateway,
      uses,
      fault: fc.constantFrom<Fault>('request lost', 'reply lost'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refresh' as const) }) },
);

let server: OwnRedis;
let redis: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  redis = openRedis(server.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

type Counted = { points: number; requests: number };

const zero = (): Counted => ({ points: 0, requests: 0 });

/** Gateways that record into the lanes, account, which counts them, and what was acknowledged. */
class Lanes {
  #lanes: number;
  /** As entitlements state it. */
  #stated: number;
  /** Until usage of before the growth is counted, account has no snapshots. */
  #grown: Promise<unknown> = Promise.resolve();
  readonly #prime: Prime;
  readonly #members: {
    recorder: UsageRecorder;
    faults: (Fault | 'killed' | 'killed late')[];
    isKilled: boolean;
  }[];
  readonly #acknowledged = new Map(PAYERS.map((one) => [one, zero()]));
  readonly #counted = new Map(PAYERS.map((one) => [one, zero()]));
  /** Of killed gateways: recorded or not, but never twice. */
  readonly #uncertain = new Map(PAYERS.map((one) => [one, zero()]));
  readonly #positions = new Map<number, string>();
  readonly #numbers = new Set<string>();
  readonly #lastOfLane: LastOfLane = new Map();
  failures = 0;

  constructor(lanes: number, gateways: number) {
    this.#lanes = lanes;
    this.#stated = lanes;
    this.#prime = createPrime({
      account: { get: (path, schema) => this.#grown.then(() => schema.parse(this.#snapshot(path))) },
      primeFrom: createPrimeFrom(redis),
      lastOfLane: this.#lastOfLane,
    });
    this.#members = Array.from({ length: gateways }, (_, index) => this.#start(`g${String(index)}`));
  }

  #start(gatewayId: string) {
    const faults: (Fault | 'killed' | 'killed late')[] = [];
    const sendBatch = createSendBatch(redis);
    const send: SendBatch = async (...batch) => {
      const fault = faults.shift();
      if (fault === 'killed') return new Promise(() => undefined);
      if (fault === 'request lost') throw new Error('the request was lost');
      const answer = await sendBatch(...batch);
      if (fault === 'reply lost') throw new Error('the reply was lost');
      return fault === 'killed late' ? new Promise(() => undefined) : answer;
    };
    const recorder = createUsageRecorder({
      gatewayId,
      send,
      primeLane: createPrimeLane(this.#prime, this.#lastOfLane),
      redisIsReady: () => true,
      maxQueuedEvents: 10_000,
      nowMs: Date.now,
      logger: createLogger('suite', 'silent'),
      onBatch: (result) => (this.failures += result === 'failed' ? 1 : 0),
    });
    return { recorder, faults, isKilled: false };
  }

  #snapshot(path: string) {
    const periodId = Number(path.split('/').at(-1));
    const payerId = periodId / 10;
    const lane = usageLane(payerId, this.#lanes);
    return {
      ...emptySnapshot(periodId),
      ...this.#counted.get(payerId),
      usage_lane: lane,
      usage_lanes: this.#lanes,
      stream_position: this.#positions.get(lane) ?? '0-0',
    };
  }

  async perform(one: Step): Promise<void> {
    if (one.do === 'forget') await redis.del(usageLiveKey(usageShard(one.payer), one.payer * 10));
    else if (one.do === 'prime') await this.#prime(one.payer * 10, one.payer);
    else if (one.do === 'count') await this.#count(one.lane % this.#lanes, one.entries);
    else if (one.do === 'empty') {
      await this.#countAll();
      await redis.flushall();
      // Gateways keep nothing over the loss of a connection.
      this.#stated = this.#lanes;
    } else if (one.do === 'grow') await this.#grow(one);
    else if (one.do === 'refresh') this.#stated = this.#lanes;
    else await this.#callsOf(one);
  }

  /** As account does it: told to all lanes at once, and what was in them before is counted first. */
  async #grow({ times, gateway: index, uses: used, fault }: Extract<Step, { do: 'grow' }>): Promise<void> {
    if (this.#lanes * times > 64) return;
    const recorded = this.#callsOf({ do: 'use', gateway: index, uses: used, ...(fault && { fault }) });
    const before = this.#lanes;
    const earlier = usageSnapshotSchema.parse(this.#snapshot(`/${String((used[0]?.payer ?? 1) * 10)}`));
    const counted = Promise.withResolvers<undefined>();
    this.#grown = counted.promise;
    this.#lanes *= times;
    const told = redis.multi();
    for (let lane = 0; lane < this.#lanes; lane += 1) told.set(usageLanesKey(lane), this.#lanes);
    await told.exec();
    expect(await createPrimeFrom(redis)(earlier, [], null)).toBe('stale');
    for (let lane = 0; lane < before; lane += 1) await this.#count(lane, 1_000_000);
    counted.resolve(undefined);
    await recorded;
  }

  async #callsOf(one: Extract<Step, { do: 'use' | 'full' | 'kill' }>): Promise<void> {
    const member = this.#members[one.gateway % this.#members.length];
    if (member === undefined || member.isKilled) return;
    if (one.do === 'use') {
      if (one.fault !== undefined) member.faults.push(one.fault);
      await this.#record(member.recorder, one.uses);
      return;
    }
    const use = [{ payer: one.payer, points: 1 }];
    if (one.do === 'full') {
      const before = this.failures;
      await redis.config('SET', 'maxmemory', '1');
      const recorded = this.#record(member.recorder, use);
      await waitFor(() => this.failures > before);
      await redis.config('SET', 'maxmemory', '0');
      await recorded;
      return;
    }
    if (this.#members.filter(({ isKilled }) => !isKilled).length === 1) return;
    member.isKilled = true;
    member.faults.push(one.arrives ? 'killed late' : 'killed');
    add(this.#uncertain, one.payer, 1);
    void this.#record(member.recorder, use);
    await waitFor(() => member.faults.length === 0);
    // Redis runs commands in order: what was sent has arrived.
    await redis.ping();
  }

  async #record(recorder: UsageRecorder, used: readonly { payer: number; points: number }[]): Promise<void> {
    await Promise.all(
      used.map(async ({ payer: payerId, points }) => {
        const live = await recorder.record(
          {
            payer_id: payerId,
            period_id: payerId * 10,
            account_id: payerId,
            application_id: 1,
            api_version: 'v2',
            points,
            requests: 1,
            time_ms: 0,
            traffic_bytes: 0,
            operation: null,
          },
          usageLane(payerId, this.#stated),
        );
        add(this.#acknowledged, payerId, points);
        if (live !== null) expect(live.requests).toBeGreaterThan(0);
      }),
    );
  }

  /** As account does it: in order, each number of a gateway once. */
  async #count(lane: number, atMost: number): Promise<void> {
    const position = this.#positions.get(lane) ?? '0-0';
    const entries = await redis.xrange(
      usageStreamKey(lane),
      `(${position}`,
      '+',
      'COUNT',
      Math.max(atMost, 1),
    );
    for (const [id, fields] of entries) {
      const { gateway_id, seq, events } = usageBatchSchema.parse(JSON.parse(fields[1] ?? ''));
      const number = `${gateway_id} ${String(seq)}`;
      expect(this.#numbers.has(number)).toBe(false);
      this.#numbers.add(number);
      for (const { payer_id, points, requests } of events) {
        add(this.#counted, payer_id, points, requests);
      }
      this.#positions.set(lane, id);
    }
  }

  async #countAll(): Promise<void> {
    for (let lane = 0; lane < this.#lanes; lane += 1) await this.#count(lane, 1_000_000);
  }

  async #liveOf(payerId: number): Promise<Counted | null> {
    const [points, requests] = (await readLive(redis)(
      [usageLiveKey(usageShard(payerId), payerId * 10)],
      [],
    )) as string[];
    return points === undefined ? null : { points: Number(points), requests: Number(requests) };
  }

  /** All that was acknowledged is counted, once, and live counters say so, too: as they are, and built anew. */
  async check(): Promise<void> {
    const before = await Promise.all(PAYERS.map((one) => this.#liveOf(one)));
    await this.#countAll();
    for (const [index, one] of PAYERS.entries()) {
      const counted = this.#counted.get(one) ?? zero();
      const least = this.#acknowledged.get(one) ?? zero();
      const most = this.#uncertain.get(one) ?? zero();
      expect(counted.requests).toBeGreaterThanOrEqual(least.requests);
      expect(counted.requests).toBeLessThanOrEqual(least.requests + most.requests);
      expect(counted.points - least.points).toBe(counted.requests - least.requests);
      const live = before[index] ?? null;
      if (live !== null) expect(live).toEqual(counted);
      await this.#prime(one * 10, one);
      expect(await this.#liveOf(one)).toEqual(counted);
    }
  }
}

function add(sums: Map<number, Counted>, of: number, points: number, requests = 1): void {
  const sum = sums.get(of);
  if (sum === undefined) throw new Error(`payer ${String(of)} is unknown`);
  sum.points += points;
  sum.requests += requests;
}

/** Points and requests of live counters of this data set; nothing without. */
const readLive = (of: RedisConnection) =>
  defineScript(
    of,
    `${LUA_DATA_SET}
    local live = redis.call('HMGET', KEYS[1], 'data_set', 'counters')
    if live[1] ~= data_set or not live[2] then return {} end
    local points, requests = struct.unpack('${LIVE_COUNTERS}', live[2])
    return { string.format('%d', points), string.format('%d', requests) }`,
  );

test.each([
  { lanes: 1, gateways: 2 },
  { lanes: 1, gateways: 5 },
  { lanes: 3, gateways: 2 },
  { lanes: 64, gateways: 2 },
])(
  'usage of many payers by $gateways gateways in $lanes lanes is counted once, whatever is lost or repeated',
  async ({ lanes, gateways }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await redis.flushall();
        const all = new Lanes(lanes, gateways);
        for (const one of steps) await all.perform(one);
        await all.check();
      }),
      { numRuns: 15 },
    );
  },
  180_000,
);
