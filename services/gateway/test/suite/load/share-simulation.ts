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
  | { do: 'calls'; gateway: number; calls: number }
  /** Calls of several units of the rate. */
  | { do: 'batches'; gateway: number; calls: number; units: number }
  | { do: 'calls everywhere'; calls: number }
  | { do: 'interval'; ms: number }
  /** Calls while reports are under way. */
  | { do: 'busy interval'; ms: number; calls: number }
  | { do: 'settle'; gateway: number; calls: number; points: number }
  | { do: 'time'; ms: number }
  /** No gateway does anything meanwhile. */
  | { do: 'stall'; ms: number }
  /** The gateway learns that the plan's slots and points are so many fifths of the first ones. */
  | { do: 'change'; gateway: number; part: number }
  /** Redis loses its data. account has counted what was acknowledged. */
  | { do: 'flush' }
  | { do: 'deafen'; gateway: number }
  | { do: 'lose trust'; gateway: number }
  | { do: 'kill'; gateway: number };

type Plan = Pick<Limits, 'rate_limit' | 'session_limit' | 'points_limit'> & {
  /** Of the calling application, per period. */
  budget?: number | null;
};

type Call = { lease: Lease; payer: PayerEntitlement; beganMs: number };

type Member = {
  gateway: SimulatedGateway;
  payer: PayerEntitlement;
  inFlight: Call[];
  killedMs: number | null;
};

/** No call lasts until its lease would have to be renewed, which takes real time. */
const MAX_CALL_MS = 4_000;

/** A gateway that hangs for longer finds its shares expired, like those of a dead one. */
const MAX_STALL_MS = 900;

/** How long a share may go unreported, and so how late its calls are charged. */
const MAX_REPORT_DELAY_MS = 1_000;

let payers = 0;

type SimulationOptions = {
  redis: RedisConnection;
  redisUrl: string;
  gateways: number;
  plan: Plan;
  decided: Record<'share' | 'redis' | 'recall', number>;
};

export async function startSimulation(options: SimulationOptions): Promise<ShareSimulation> {
  const clock = await startVirtualClock(options.redis);
  const simulation = new ShareSimulation(options, clock, (payers += 1));
  await simulation.start();
  return simulation;
}

/** Calls of one payer over several gateways, and an exact model of its limits that contradicts wrong decisions. */
class ShareSimulation {
  readonly #options: SimulationOptions;
  readonly #clock: VirtualClock;
  readonly #payerId: number;
  #members: Member[] = [];
  #level = 0;
  #levelAtMs: number;
  #acknowledged = 0;
  #counted = { points: 0, stream_position: '0-0' };
  #hasLoss = false;
  #passedMs = 0;
  /** Checked when all calls of the step are decided, since answers of several gateways arrive in any order. */
  #refusals: { payer: PayerEntitlement; code: string; units: number }[] = [];

  constructor(options: SimulationOptions, clock: VirtualClock, payerId: number) {
    this.#options = options;
    this.#clock = clock;
    this.#payerId = payerId;
    this.#levelAtMs = clock.nowMs();
  }

  async start(): Promise<void> {
    const { redisUrl, gateways, plan, decided } = this.#options;
    const start = async (): Promise<Member> => ({
      gateway: await startSimulatedGateway({
        redisUrl,
        clock: this.#clock,
        snapshot: () => ({ ...this.#counted, payer_id: this.#payerId }),
        onDecided: (by) => (decided[by] += 1),
      }),
      payer: this.#payerWith(plan),
      inFlight: [],
      killedMs: null,
    });
    this.#members = await Promise.all(Array.from({ length: gateways }, start));
  }

  async perform(step: Step): Promise<void> {
    const members = this.#members;
    const member = members[('gateway' in step ? step.gateway : 0) % members.length];
    if (member === undefined) throw new Error('there is no gateway');
    this.#level = this.#levelNow();
    this.#levelAtMs = this.#clock.nowMs();
    await this.#do(step, member);
    for (const { payer, code, units } of this.#refusals) this.#onRefused(payer, code, units);
    this.#refusals = [];
    this.#passedMs = 0;
    await this.#endOldCalls();
  }

  #payerWith({ budget = null, ...limits }: Plan): PayerEntitlement {
    return payerWith(this.#payerId, limits, budget);
  }

  /** Gateways that have a share, as Redis knows them. */
  async holders(): Promise<number> {
    const fields = await this.#options.redis.hkeys(sharesKey(this.#payerId));
    return fields.filter((field) => field !== 'recalled_until_us').length;
  }

  async close(): Promise<void> {
    await Promise.all(this.#alive().map(({ gateway }) => gateway.close()));
  }

  async #do(step: Step, member: Member): Promise<void> {
    const slotsOf = ({ payer }: Member) => payer.limits.session_limit ?? Infinity;
    const alive = this.#alive();
    switch (step.do) {
      case 'calls':
        return this.#calls(member, step.calls, slotsOf(member));
      case 'batches':
        return this.#calls(member, step.calls, slotsOf(member), step.units);
      case 'calls everywhere': {
        const slots = Math.max(...alive.map(slotsOf));
        await Promise.all(alive.map((one) => this.#calls(one, step.calls, slots)));
        return;
      }
      case 'busy interval': {
        await this.#pass(step.ms);
        const slots = Math.max(...alive.map(slotsOf));
        const reports = this.#endIntervals();
        await Promise.all([reports, ...alive.map((one) => this.#calls(one, step.calls, slots))]);
        return;
      }
      case 'settle':
        if (member.killedMs !== null) return;
        return this.#settle(member, member.inFlight.slice(0, step.calls), step.points);
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
        this.#counted = { points: this.#acknowledged, stream_position: '5-0' };
        await this.#options.redis.flushall();
        return this.#clock.pass(0);
      case 'change':
        member.payer = this.#payerWith(partOf(this.#options.plan, step.part));
        return;
      case 'kill':
        if (alive.length === 1 || member.killedMs !== null) return;
        member.gateway.kill();
        member.killedMs = this.#clock.nowMs();
        this.#hasLoss = true;
    }
  }

  /** `slots`: the most that entitlements of the calling gateways allow. */
  async #calls(member: Member, count: number, slots: number, units = 1): Promise<void> {
    if (member.killedMs !== null) return;
    const { payer } = member;
    const before = this.#acknowledged;
    const call = async () => {
      const answer = await member.gateway.call(payer, units);
      if (typeof answer === 'string') this.#refusals.push({ payer, code: answer, units });
      else this.#onAdmitted(member, { lease: answer, units }, before, slots);
    };
    await this.#inTime(Promise.all(Array.from({ length: count }, call)));
  }

  async #settle(member: Member, ending: readonly Call[], points: number): Promise<void> {
    const settled = ending.map(async ({ lease, payer }) => {
      await member.gateway.settle(payer, lease, points);
      this.#acknowledged += points;
    });
    await this.#inTime(Promise.all(settled));
    member.inFlight = member.inFlight.filter((call) => !ending.includes(call));
  }

  async #endOldCalls(): Promise<void> {
    for (const member of this.#alive()) {
      const isOld = ({ beganMs }: Call) => this.#clock.nowMs() - beganMs > MAX_CALL_MS / 2;
      await this.#settle(member, member.inFlight.filter(isOld), 1);
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

  #levelNow(): number {
    const { rate_limit } = this.#options.plan;
    if (rate_limit === null) return 0;
    return Math.max(this.#level - (this.#clock.nowMs() - this.#levelAtMs) * 1_000 * rate_limit, 0);
  }

  #slotsTaken(): number {
    const nowMs = this.#clock.nowMs();
    // A dead gateway's calls may go on at the upstream.
    const isCounted = ({ killedMs }: Member) => killedMs === null || nowMs - killedMs < MAX_CALL_MS;
    return this.#members.filter(isCounted).reduce((sum, { inFlight }) => sum + inFlight.length, 0);
  }

  #onAdmitted(
    member: Member,
    { lease, units }: { lease: Lease; units: number },
    acknowledgedBefore: number,
    slots: number,
  ): void {
    const { payer } = member;
    const { rate_limit, points_limit } = payer.limits;
    member.inFlight.push({ lease, payer, beganMs: this.#clock.nowMs() });
    // Time may have passed between the decision and its answer: each call of a step counts from the step's beginning.
    this.#level += units * CALL;
    if (rate_limit !== null && this.#levelNow() > rate_limit * CALL) this.#fault('above the rate');
    if (this.#slotsTaken() > slots) this.#fault('above the slots');
    if (points_limit !== null && acknowledgedBefore >= points_limit)
      this.#fault('admitted with no points left');
    if (acknowledgedBefore >= budgetOf(payer)) this.#fault('admitted with nothing left of the budget');
  }

  #onRefused(payer: PayerEntitlement, code: string, units: number): void {
    const { limits } = payer;
    const isPoints = code === 'points_limit_exceeded' || code === 'budget_exceeded';
    const allowed = code === 'budget_exceeded' ? budgetOf(payer) : (limits.points_limit ?? Infinity);
    if (isPoints && this.#acknowledged >= allowed) return;
    // What a dead gateway held counts as used.
    if (this.#hasLoss && !isPoints && code !== 'service_unavailable') return;
    if (code === 'session_limit_exceeded' && this.#slotsTaken() >= (limits.session_limit ?? Infinity)) return;
    const rate = limits.rate_limit ?? Infinity;
    const late = (MAX_REPORT_DELAY_MS + this.#passedMs) * 1_000 * rate;
    if (code === 'rate_limit_exceeded' && this.#levelNow() + units * CALL > rate * CALL - late) return;
    this.#fault(`refused by mistake, ${code}`);
  }

  #fault(text: string): never {
    const model = {
      level: this.#levelNow() / CALL,
      slots: this.#slotsTaken(),
      acknowledged: this.#acknowledged,
    };
    throw new Error(
      `${text}: ${JSON.stringify({ ...model, ...this.#options.plan, hasLoss: this.#hasLoss })}`,
    );
  }
}

function budgetOf({ budgets }: PayerEntitlement): number {
  return budgets?.all[0]?.points_per_period ?? Infinity;
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
