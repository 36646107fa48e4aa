import type { Limits } from '@tollgate/contracts/entitlement';
import type { RedisConnection } from '@tollgate/redis';
import { CALL } from '../../../src/ledger/rate-lua.ts';
import type { Lease } from '../../../src/ledger/leases.ts';
import { INTERVAL_MS } from '../../../src/pipeline/admit/shares/share-policy.ts';
import type { PayerEntitlement } from '../../../src/ledger/principal.ts';
import { sharesKey } from '../../../src/ledger/keys.ts';
import { payerWith, startSimulatedGateway } from './simulated-gateway.ts';
import type { SimulatedGateway } from './simulated-gateway.ts';
import { startVirtualClock } from './virtual-clock.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type Step =
  | { do: 'calls'; gateway: number; payer?: number; calls: number }
  /** Calls of several units of the rate. */
  | { do: 'batches'; gateway: number; payer?: number; calls: number; units: number }
  /** Of each payer at each gateway, so that their shares are renewed together. */
  | { do: 'calls everywhere'; calls: number }
  | { do: 'interval'; ms: number }
  /** Calls while reports are under way. */
  | { do: 'busy interval'; ms: number; calls: number }
  | { do: 'settle'; gateway: number; payer?: number; calls: number; points: number }
  | { do: 'time'; ms: number }
  /** No gateway does anything meanwhile. */
  | { do: 'stall'; ms: number }
  /** The gateway learns that the plan's slots, points and budget are so many fifths of the first ones. */
  | { do: 'change'; gateway: number; payer?: number; part: number }
  /** Redis loses its data. account has counted what was acknowledged. */
  | { do: 'flush' }
  | { do: 'deafen'; gateway: number }
  | { do: 'lose trust'; gateway: number }
  /** Redis takes what the gateway reports at the end of its next interval, and the replies are lost. */
  | { do: 'lose renewals'; gateway: number }
  | { do: 'kill'; gateway: number }
  /** While Redis renews its shares. */
  | { do: 'kill renewing'; gateway: number };

type Plan = Pick<Limits, 'rate_limit' | 'session_limit' | 'points_limit'> & {
  /** Of the calling application, per period. */
  budget?: number | null;
};

type Call = { lease: Lease; payer: PayerEntitlement; beganMs: number };

type Member = { gateway: SimulatedGateway; killedMs: number | null };

/** A payer at one gateway. */
type Seat = { member: Member; payer: PayerEntitlement; inFlight: Call[] };

/** What is known of a payer without asking Redis. */
type Model = {
  payerId: number;
  plan: Plan;
  level: number;
  levelAtMs: number;
  acknowledged: number;
  counted: { points: number; stream_position: string };
  seats: Seat[];
};

/** `before`: points that were acknowledged when it began; `slots`: the most that there are. */
type Admitted = { lease: Lease; payer: PayerEntitlement; units: number; before: number; slots: number };

type Refusal = { model: Model; payer: PayerEntitlement; code: string; units: number };

/** No call lasts until its lease would have to be renewed, which takes real time. */
const MAX_CALL_MS = 4_000;

/** A gateway that hangs for longer finds its shares expired, like those of a dead one. */
const MAX_STALL_MS = 900;

/** How long a share may go unreported, and so how late its calls are charged. */
const MAX_REPORT_DELAY_MS = 1_000;

let lastPayerId = 0;

type SimulationOptions = {
  redis: RedisConnection;
  redisUrl: string;
  gateways: number;
  /** One for each payer. */
  plans: readonly Plan[];
  decided: Record<'share' | 'redis' | 'recall', number>;
};

export async function startSimulation(options: SimulationOptions): Promise<ShareSimulation> {
  const clock = await startVirtualClock(options.redis);
  const simulation = new ShareSimulation(options, clock);
  await simulation.start();
  return simulation;
}

/** Calls of payers over several gateways, and an exact model of their limits that contradicts wrong decisions. */
class ShareSimulation {
  readonly #options: SimulationOptions;
  readonly #clock: VirtualClock;
  readonly #models: readonly Model[];
  #members: readonly Member[] = [];
  #hasLoss = false;
  #passedMs = 0;
  /** Checked when all calls of the step are decided, since answers of several gateways arrive in any order. */
  #refusals: Refusal[] = [];

  constructor(options: SimulationOptions, clock: VirtualClock) {
    this.#options = options;
    this.#clock = clock;
    this.#models = options.plans.map((plan) => ({
      payerId: (lastPayerId += 1),
      plan,
      level: 0,
      levelAtMs: clock.nowMs(),
      acknowledged: 0,
      counted: { points: 0, stream_position: '0-0' },
      seats: [],
    }));
  }

  async start(): Promise<void> {
    const { redisUrl, gateways, decided } = this.#options;
    const start = async (): Promise<Member> => ({
      gateway: await startSimulatedGateway({
        redisUrl,
        clock: this.#clock,
        snapshot: (periodId) => {
          const { payerId, counted } = oneOf(this.#models, (model) => model.payerId * 10 === periodId);
          return { ...counted, payer_id: payerId };
        },
        onDecided: (by) => (decided[by] += 1),
      }),
      killedMs: null,
    });
    this.#members = await Promise.all(Array.from({ length: gateways }, start));
    for (const model of this.#models) {
      const { payerId, plan } = model;
      model.seats = this.#members.map((member) => ({
        member,
        payer: payerOf(payerId, plan),
        inFlight: [],
      }));
    }
  }

  async perform(step: Step): Promise<void> {
    const member = nth(this.#members, 'gateway' in step ? step.gateway : 0);
    const model = nth(this.#models, 'payer' in step ? (step.payer ?? 0) : 0);
    for (const one of this.#models) {
      one.level = this.#levelNow(one);
      one.levelAtMs = this.#clock.nowMs();
    }
    await this.#do(step, member, model);
    for (const refusal of this.#refusals) this.#onRefused(refusal);
    this.#refusals = [];
    this.#passedMs = 0;
    await this.#endOldCalls();
  }

  /** Gateways that have a share of the payer, as Redis knows them. */
  async holders(payer = 0): Promise<number> {
    const fields = await this.#options.redis.hkeys(sharesKey(nth(this.#models, payer).payerId));
    return fields.filter((field) => field !== 'recalled_until_us').length;
  }

  async close(): Promise<void> {
    await Promise.all(this.#alive().map(({ gateway }) => gateway.close()));
  }

  async #do(step: Step, member: Member, model: Model): Promise<void> {
    const seat = oneOf(model.seats, (one) => one.member === member);
    switch (step.do) {
      case 'calls':
        return this.#calls(model, seat, step.calls, slotsOf(seat));
      case 'batches':
        return this.#calls(model, seat, step.calls, slotsOf(seat), step.units);
      case 'calls everywhere':
        return this.#callsEverywhere(step.calls);
      case 'busy interval': {
        await this.#pass(step.ms);
        const reports = this.#endIntervals();
        await Promise.all([reports, this.#callsEverywhere(step.calls)]);
        return;
      }
      case 'settle':
        if (member.killedMs !== null) return;
        return this.#settle(model, seat, seat.inFlight.slice(0, step.calls), step.points);
      case 'time':
        for (let leftMs = step.ms; leftMs > 0; leftMs -= INTERVAL_MS) {
          await this.#pass(Math.min(leftMs, INTERVAL_MS));
          await this.#endIntervals();
        }
        return;
      case 'stall':
        await this.#pass(step.ms);
        this.#hasLoss = true;
        return;
      case 'interval':
        await this.#pass(step.ms);
        return this.#endIntervals();
      case 'deafen':
        member.gateway.goDeaf();
        return;
      case 'lose trust':
        member.gateway.loseTrust();
        return;
      case 'flush':
        for (const one of this.#models) one.counted = { points: one.acknowledged, stream_position: '5-0' };
        await this.#options.redis.flushall();
        return this.#clock.pass(0);
      case 'change':
        seat.payer = payerOf(model.payerId, partOf(model.plan, step.part));
        return;
      case 'lose renewals':
        member.gateway.loseRenewals();
        this.#hasLoss = true;
        return;
      case 'kill':
      case 'kill renewing':
        if (this.#alive().length === 1 || member.killedMs !== null) return;
        if (step.do === 'kill renewing') await member.gateway.beginRenewals();
        member.gateway.kill();
        member.killedMs = this.#clock.nowMs();
        this.#hasLoss = true;
    }
  }

  async #callsEverywhere(calls: number): Promise<void> {
    const ofModel = (model: Model) => {
      const seats = model.seats.filter(({ member }) => member.killedMs === null);
      const slots = Math.max(...seats.map(slotsOf));
      return seats.map((seat) => this.#calls(model, seat, calls, slots));
    };
    await Promise.all(this.#models.flatMap(ofModel));
  }

  /** `slots`: the most that entitlements of the calling gateways allow. */
  async #calls(model: Model, seat: Seat, count: number, slots: number, units = 1): Promise<void> {
    const { payer, member } = seat;
    if (member.killedMs !== null) return;
    const before = model.acknowledged;
    const call = async () => {
      const answer = await member.gateway.call(payer, units);
      if (typeof answer === 'string') this.#refusals.push({ model, payer, code: answer, units });
      else this.#onAdmitted(model, seat, { lease: answer, payer, units, before, slots });
    };
    await this.#inTime(Promise.all(Array.from({ length: count }, call)));
  }

  async #settle(model: Model, seat: Seat, ending: readonly Call[], points: number): Promise<void> {
    const settled = ending.map(async ({ lease, payer }) => {
      await seat.member.gateway.settle(payer, lease, points);
      model.acknowledged += points;
    });
    await this.#inTime(Promise.all(settled));
    seat.inFlight = seat.inFlight.filter((call) => !ending.includes(call));
  }

  async #endOldCalls(): Promise<void> {
    const isOld = ({ beganMs }: Call) => this.#clock.nowMs() - beganMs > MAX_CALL_MS / 2;
    for (const model of this.#models) {
      for (const seat of model.seats) {
        if (seat.member.killedMs === null) await this.#settle(model, seat, seat.inFlight.filter(isOld), 1);
      }
    }
  }

  async #endIntervals(): Promise<void> {
    await Promise.all(this.#alive().map(({ gateway }) => gateway.endInterval()));
  }

  /** Lets time pass while something waits for it. */
  async #inTime(waiting: Promise<unknown>): Promise<void> {
    const turn = () => new Promise<'waiting'>((resolve) => setTimeout(resolve, 4, 'waiting'));
    for (let turns = 0; (await Promise.race([waiting, turn()])) === 'waiting'; turns += 1) {
      if (turns < 3) continue;
      await this.#pass(25);
      if (turns % 4 === 0) await this.#endIntervals();
    }
  }

  async #pass(ms: number): Promise<void> {
    this.#passedMs += ms;
    // On a machine that is too slow for this test, all gateways hang.
    if (this.#passedMs > MAX_STALL_MS) this.#hasLoss = true;
    await this.#clock.pass(ms);
  }

  #alive(): Member[] {
    return this.#members.filter(({ killedMs }) => killedMs === null);
  }

  #levelNow({ plan: { rate_limit }, level, levelAtMs }: Model): number {
    if (rate_limit === null) return 0;
    return Math.max(level - (this.#clock.nowMs() - levelAtMs) * 1_000 * rate_limit, 0);
  }

  #slotsTaken({ seats }: Model): number {
    const nowMs = this.#clock.nowMs();
    // A dead gateway's calls may go on at the upstream.
    const isCounted = ({ member: { killedMs } }: Seat) => killedMs === null || nowMs - killedMs < MAX_CALL_MS;
    return seats.filter(isCounted).reduce((sum, { inFlight }) => sum + inFlight.length, 0);
  }

  #onAdmitted(model: Model, seat: Seat, call: Admitted): void {
    const { payer, lease, units, before, slots } = call;
    const { rate_limit, points_limit } = payer.limits;
    seat.inFlight.push({ lease, payer, beganMs: this.#clock.nowMs() });
    // Time may have passed between the decision and its answer: each call of a step counts from the step's beginning.
    model.level += units * CALL;
    if (rate_limit !== null && this.#levelNow(model) > rate_limit * CALL)
      this.#fault('above the rate', model);
    if (this.#slotsTaken(model) > slots) this.#fault('above the slots', model);
    if (points_limit !== null && before >= points_limit) this.#fault('admitted with no points left', model);
    if (before >= budgetOf(payer)) this.#fault('admitted with nothing left of the budget', model);
  }

  #onRefused({ model, payer, code, units }: Refusal): void {
    const { limits } = payer;
    const isPoints = code === 'points_limit_exceeded' || code === 'budget_exceeded';
    const allowed = code === 'budget_exceeded' ? budgetOf(payer) : (limits.points_limit ?? Infinity);
    if (isPoints && model.acknowledged >= allowed) return;
    // What a dead gateway held counts as used.
    if (this.#hasLoss && !isPoints && code !== 'service_unavailable') return;
    const hasNoSlot = this.#slotsTaken(model) >= (limits.session_limit ?? Infinity);
    if (code === 'session_limit_exceeded' && hasNoSlot) return;
    const rate = limits.rate_limit ?? Infinity;
    const late = (MAX_REPORT_DELAY_MS + this.#passedMs) * 1_000 * rate;
    const isAtRate = this.#levelNow(model) + units * CALL > rate * CALL - late;
    if (code === 'rate_limit_exceeded' && isAtRate) return;
    this.#fault(`refused by mistake, ${code}`, model);
  }

  #fault(text: string, model: Model): never {
    const facts = {
      level: this.#levelNow(model) / CALL,
      slots: this.#slotsTaken(model),
      acknowledged: model.acknowledged,
      ...model.plan,
      hasLoss: this.#hasLoss,
    };
    throw new Error(`${text}: ${JSON.stringify(facts)}`);
  }
}

function payerOf(payerId: number, { budget = null, ...limits }: Plan): PayerEntitlement {
  return payerWith(payerId, limits, budget);
}

function budgetOf({ budgets }: PayerEntitlement): number {
  return budgets?.all[0]?.points_per_period ?? Infinity;
}

function slotsOf({ payer }: Seat): number {
  return payer.limits.session_limit ?? Infinity;
}

function nth<T>(all: readonly T[], index: number): T {
  const one = all[index % all.length];
  if (one === undefined) throw new Error('there are no payers, or no gateways');
  return one;
}

function oneOf<T>(all: readonly T[], isIt: (one: T) => boolean): T {
  const one = all.find(isIt);
  if (one === undefined) throw new Error('the simulation has no such payer or gateway');
  return one;
}

/** The plan with so many fifths of its slots, points and budget. */
function partOf(plan: Plan, part: number): Plan {
  const fifths = (of: number | null) => (of === null ? null : Math.ceil((of * part) / 5));
  return {
    ...plan,
    session_limit: fifths(plan.session_limit),
    points_limit: fifths(plan.points_limit),
    budget: fifths(plan.budget ?? null),
  };
}
