import type { LeasedAdmission } from './parameters.ts';

/** The batch of its gateway and stream that a call is in, numbered, and whether it is the first in it. */
export type Settle = (slot: number, nowSec: number) => { number: number; isNew: boolean };

/**
 * One batch of a gateway and stream is under way at a time; calls that end meanwhile share the next
 * (docs/design/settlement.md).
 */
export function createSettlements(slots: number, settlementMs: number): Settle {
  const tookSec = settlementMs / 1_000;
  const busyUntil = new Float64Array(slots);
  const isNextWaiting = new Uint8Array(slots);
  const numbers = new Int32Array(slots);
  return (slot, nowSec) => {
    let until = busyUntil[slot] ?? 0;
    if (isNextWaiting[slot] === 1 && nowSec >= until) {
      until += tookSec;
      isNextWaiting[slot] = 0;
    }
    const isFree = nowSec >= until;
    const isFirstToWait = !isFree && isNextWaiting[slot] === 0;
    if (isFirstToWait) isNextWaiting[slot] = 1;
    busyUntil[slot] = isFree ? nowSec + tookSec : until;
    const isNew = isFree || isFirstToWait;
    const number = (numbers[slot] ?? 0) + (isNew ? 1 : 0);
    numbers[slot] = number;
    return { number, isNew };
  };
}

/**
 * Whether a call makes the gateway send a script of its own. Slots are pairs of a gateway and a payer, of which `perSec`
 * calls arrive there.
 */
export type NeedsAdmission = (slot: number, perSec: number, nowSec: number) => boolean;

/** Calls of a turn share a script; those of a payer that holds a lease need one per interval. */
export function createAdmissions(
  slots: number,
  turnMs: number,
  leased: LeasedAdmission | null,
): NeedsAdmission {
  const turns = new Int32Array(slots).fill(-1);
  const isFirstOfTurn = (slot: number, nowSec: number) => {
    const turn = Math.floor((nowSec * 1_000) / turnMs);
    const isFirst = turns[slot] !== turn;
    turns[slot] = turn;
    return isFirst;
  };
  if (leased === null) return (slot, _perSec, nowSec) => isFirstOfTurn(slot, nowSec);

  const { intervalMs, fromCalls } = leased;
  const intervals = new Int32Array(slots).fill(-1);
  const calls = new Int32Array(slots);
  const holds = new Uint8Array(slots);
  return (slot, perSec, nowSec) => {
    const interval = Math.floor((nowSec * 1_000) / intervalMs);
    const last = intervals[slot] ?? -1;
    if (last === -1) calls[slot] = Math.round((perSec * intervalMs) / 1_000);
    if (interval !== last) {
      const isNext = last === -1 || interval === last + 1;
      holds[slot] = isNext && (calls[slot] ?? 0) >= fromCalls ? 1 : 0;
      calls[slot] = 0;
      intervals[slot] = interval;
    }
    const count = (calls[slot] ?? 0) + 1;
    calls[slot] = count;
    if (holds[slot] === 1) return count === 1;
    return count <= fromCalls && isFirstOfTurn(slot, nowSec);
  };
}
