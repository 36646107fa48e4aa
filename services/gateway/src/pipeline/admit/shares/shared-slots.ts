import type { Lease, LeaseEntry, Leases } from '../../../ledger/leases.ts';

type SharedSlots = {
  inUse: () => number;
  take: () => Lease;
  /**
   * Makes leases of the slots of calls in flight, and returns those that Redis doesn't have. A call whose settlement
   * was sent is none of them: Redis would get its lease after the end. May be repeated.
   */
  moveToRedis: () => string[];
};

type Slot = {
  entry: Pick<LeaseEntry, 'key' | 'member'>;
  state: 'held' | 'handed over' | 'over';
  /** Its lease, once the slot isn't the share's any more. */
  moved: Lease | null;
};

/** The slots of a share that calls in flight hold. Redis knows their number only, until the share ends. */
export function createSharedSlots(key: string, leases: Pick<Leases, 'hold' | 'newMember'>): SharedSlots {
  const inUse = new Set<Slot>();

  function handOver(slot: Slot): LeaseEntry | null {
    if (slot.state !== 'held') return null;
    if (slot.moved !== null) {
      slot.state = 'over';
      return slot.moved.handOver();
    }
    slot.state = 'handed over';
    return {
      ...slot.entry,
      shared: {
        onSent: () => {
          slot.state = 'over';
          return slot.moved !== null;
        },
        onRecorded: () => {
          inUse.delete(slot);
        },
      },
    };
  }

  return {
    inUse: () => inUse.size,
    take: () => {
      const slot: Slot = { entry: { key, member: leases.newMember() }, state: 'held', moved: null };
      inUse.add(slot);
      return {
        handOver: () => handOver(slot),
        release: () => {
          if (slot.state !== 'held') return;
          slot.state = 'over';
          slot.moved?.release();
          inUse.delete(slot);
        },
      };
    },
    moveToRedis: () => {
      const moved = [...inUse].filter(({ state }) => state !== 'over');
      for (const slot of moved) slot.moved ??= leases.hold(slot.entry);
      // The batch releases it.
      for (const { state, moved: lease } of moved) if (state === 'handed over') lease?.handOver();
      return moved.map(({ entry }) => entry.member);
    },
  };
}
