import { createBalancer } from './balancing.ts';
import { createEntitlements, createWarmCache, idleSecOf } from './caches.ts';
import { createPairTable } from './pair-table.ts';
import type { Parameters } from './parameters.ts';
import { createRandom, scattered } from './random.ts';
import { createAdmissions, createSettlements } from './scripts.ts';
import { createZipf } from './zipf.ts';

/** Calls, their scripts, and the payers in settlements. */
export type CallWork = { calls: number; admissions: number; settlements: number; settledPayers: number };

/** What happened in the simulated time, per second. */
export type Observed = {
  callsPerSec: number;
  gateways: number;
  admissionScripts: number;
  settlementScripts: number;
  settledPayers: number;
  introspections: number;
  /** Entitlements that a gateway reads in Redis, whether they are there or not. */
  keptEntitlements: number;
  askedEntitlements: number;
  hourlyRows: number;
  ofStream: CallWork[];
  busiestPayer: CallWork;
  callsOfBusiestGateway: number;
};

type Load = { callsPerSec: number; gateways: number };

/**
 * Calls arrive at random times. The first caches' contents, leases and kept entitlements are drawn from their steady
 * state, so no warm-up is needed. The largest account is number 0; two applications share an account's load.
 */
export function simulate(parameters: Parameters, { callsPerSec, gateways }: Load): Observed {
  const { accounts, applicationsPerAccount, streams } = parameters;
  const endSec = simulatedSec(parameters, callsPerSec);
  const random = createRandom(parameters.seed);
  const zipf = createZipf(accounts, parameters.zipfExponent, random);
  const model = createModel(parameters, { callsPerSec, gateways }, zipf.shares, random);
  const balance = createBalancer(parameters, gateways, random);
  const total = {
    admission: 0,
    settlement: 0,
    settledPayer: 0,
    introspection: 0,
    kept: 0,
    asked: 0,
    rows: 0,
  };
  const ofStream = createTally(streams);
  const ofPayer = createTally(accounts);
  const callsOfGateway = new Float64Array(gateways);
  for (let nowSec = random.gap(callsPerSec); nowSec < endSec; nowSec += random.gap(callsPerSec)) {
    const account = zipf.draw();
    const application = account * applicationsPerAccount + random.below(applicationsPerAccount);
    const { gateway, isUsual } = balance(application, nowSec);
    const at = { gateway, application, account, isUsual };
    const stream = scattered(account, streams);
    if (!model.isIntrospected(at, nowSec)) total.introspection += 1;
    const source = model.entitlementFrom(at, nowSec);
    if (source !== 'gateway') total.kept += 1;
    if (source === 'asked') total.asked += 1;
    const admission = model.needsAdmission(at, nowSec) ? 1 : 0;
    const batch = model.settle(gateway * streams + stream, nowSec);
    const settlement = batch.isNew ? 1 : 0;
    const settledPayer = model.isFirstOfPayer(at, batch.number) ? 1 : 0;
    total.admission += admission;
    total.settlement += settlement;
    total.settledPayer += settledPayer;
    if (model.isNewRow(application, nowSec)) total.rows += 1;
    const work = { admission, settlement, settledPayer };
    ofStream.add(stream, work);
    ofPayer.add(account, work);
    add(callsOfGateway, gateway, 1);
  }
  const perSec = (count: number) => count / endSec;
  return {
    callsPerSec: perSec(callsOfGateway.reduce((sum, calls) => sum + calls, 0)),
    gateways,
    admissionScripts: perSec(total.admission),
    settlementScripts: perSec(total.settlement),
    settledPayers: perSec(total.settledPayer),
    introspections: perSec(total.introspection),
    keptEntitlements: perSec(total.kept),
    askedEntitlements: perSec(total.asked),
    hourlyRows: perSec(total.rows),
    ofStream: Array.from({ length: streams }, (_, stream) => ofStream.read(stream, perSec)),
    busiestPayer: ofPayer.read(indexOfLargest(ofPayer.calls), perSec),
    callsOfBusiestGateway: perSec(callsOfGateway[indexOfLargest(callsOfGateway)] ?? 0),
  };
}

function createTally(size: number) {
  const calls = new Float64Array(size);
  const admissions = new Float64Array(size);
  const settlements = new Float64Array(size);
  const settledPayers = new Float64Array(size);
  return {
    calls,
    add: (index: number, work: { admission: number; settlement: number; settledPayer: number }) => {
      add(calls, index, 1);
      add(admissions, index, work.admission);
      add(settlements, index, work.settlement);
      add(settledPayers, index, work.settledPayer);
    },
    read: (index: number, perSec: (count: number) => number): CallWork => ({
      calls: perSec(calls[index] ?? 0),
      admissions: perSec(admissions[index] ?? 0),
      settlements: perSec(settlements[index] ?? 0),
      settledPayers: perSec(settledPayers[index] ?? 0),
    }),
  };
}

/** Whole steps of the reader, so that none is cut off. */
function simulatedSec({ simulatedCalls, readerStepMs }: Parameters, callsPerSec: number): number {
  const stepSec = readerStepMs / 1_000;
  return Math.max(1, Math.round(simulatedCalls / callsPerSec / stepSec)) * stepSec;
}

type Place = { gateway: number; application: number; account: number; isUsual: boolean };

function createModel(
  parameters: Parameters,
  { callsPerSec, gateways }: Load,
  shares: Float64Array,
  random: ReturnType<typeof createRandom>,
) {
  const { accounts, applicationsPerAccount: perAccount, balancing, cacheTtlSec } = parameters;
  const applications = accounts * perAccount;
  // Of a key's calls, those that reach one of its gateways; of a gateway's keys, those that reach it.
  const isSpread = balancing === 'random';
  const [callShare, keyShare] = isSpread ? [1 / gateways, 1] : [1, 1 / gateways];
  const ofApplication = Float64Array.from(
    { length: applications },
    (_, application) => (shares[Math.floor(application / perAccount)] ?? 0) / perAccount,
  );
  const hereOfAccount = isSpread ? 1 / gateways : 1 / perAccount;
  const lifeOf = (entries: number, seen: Float64Array, share: number) => ({
    ttlSec: cacheTtlSec,
    idleSec: idleSecOf(entries, callsPerSec * share, { shares: seen, keyShare }),
  });
  const tokenLife = lifeOf(parameters.introspectionCacheEntries, ofApplication, callShare);
  const entitlementLife = lifeOf(parameters.entitlementCacheEntries, shares, hereOfAccount);

  // More than chance can make of them.
  const calls = Math.ceil(simulatedSec(parameters, callsPerSec) * callsPerSec * 1.2) + 1_000;
  const tokens = createPairTable(Math.min(calls, gateways * applications), applications);
  const payers = createPairTable(Math.min(calls, gateways * accounts), accounts);
  const introspections = createWarmCache(tokens.size, tokenLife, random);
  const entitlements = createEntitlements({ accounts, slots: payers.size }, entitlementLife, random);
  const admissions = createAdmissions(payers.size, parameters.turnMs, parameters.leasedAdmission);
  const batchOf = new Int32Array(payers.size).fill(-1);
  const stepOf = new Int32Array(applications).fill(-1);
  const callsOf = (share: number | undefined, here: number, isUsual: boolean) =>
    isUsual ? callsPerSec * (share ?? 0) * here : 0;
  return {
    isIntrospected: ({ gateway, application, isUsual }: Place, nowSec: number) =>
      introspections(
        tokens.slotOf(gateway, application),
        callsOf(ofApplication[application], callShare, isUsual),
        nowSec,
      ),
    entitlementFrom: ({ gateway, account, isUsual }: Place, nowSec: number) => {
      const perSec = {
        account: callsPerSec * (shares[account] ?? 0),
        here: callsOf(shares[account], hereOfAccount, isUsual),
      };
      return entitlements({ slot: payers.slotOf(gateway, account), account }, perSec, nowSec);
    },
    needsAdmission: ({ gateway, account, isUsual }: Place, nowSec: number) => {
      const perSec = callsOf(shares[account], hereOfAccount, isUsual);
      return admissions(payers.slotOf(gateway, account), perSec, nowSec);
    },
    settle: createSettlements(gateways * parameters.streams, parameters.settlementMs),
    /** A batch has the calls of a payer as one. */
    isFirstOfPayer: ({ gateway, account }: Place, batch: number) => {
      const slot = payers.slotOf(gateway, account);
      const isFirst = batchOf[slot] !== batch;
      batchOf[slot] = batch;
      return isFirst;
    },
    isNewRow: (application: number, nowSec: number) => {
      const step = Math.floor((nowSec * 1_000) / parameters.readerStepMs);
      const isNew = stepOf[application] !== step;
      stepOf[application] = step;
      return isNew;
    },
  };
}

function add(counts: Float64Array, index: number, more: number): void {
  counts[index] = (counts[index] ?? 0) + more;
}

function indexOfLargest(counts: Float64Array): number {
  return counts.reduce((best, count, index) => (count > (counts[best] ?? 0) ? index : best), 0);
}
