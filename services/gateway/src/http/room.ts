import { Problem } from '@tollgate/http/problem';

/** What one call takes of a room that payers share. */
export type Place = {
  /** @throws {Problem} as `take` */
  grow: (amount: number) => void;
  /** May be called again. */
  release: () => void;
};

export type Room = {
  /** @throws {Problem} too_many_requests if it is the payer's part that is used up, else service_unavailable. */
  take: (payerId: number, amount: number) => Place;
};

/** A room of which no payer gets more than a part, so that one can't hold up the others. */
export function createRoom(limits: { total: number; perPayer: number; what: string }): Room {
  const { total, perPayer, what } = limits;
  const byPayer = new Map<number, number>();
  let taken = 0;

  function add(payerId: number, amount: number): void {
    const ofPayer = (byPayer.get(payerId) ?? 0) + amount;
    taken += amount;
    if (ofPayer === 0) byPayer.delete(payerId);
    else byPayer.set(payerId, ofPayer);
  }

  function assertFits(payerId: number, amount: number): void {
    if ((byPayer.get(payerId) ?? 0) + amount > perPayer) {
      throw new Problem('too_many_requests', {
        detail: `Too many ${what} at a time.`,
        headers: { 'retry-after': '1' },
      });
    }
    if (taken + amount > total) {
      throw new Problem('service_unavailable', { cause: new Error(`too many ${what}`) });
    }
  }

  return {
    take: (payerId, first) => {
      let amount = 0;
      const grow = (more: number) => {
        assertFits(payerId, more);
        add(payerId, more);
        amount += more;
      };
      grow(first);
      return {
        grow,
        release: () => {
          add(payerId, -amount);
          amount = 0;
        },
      };
    },
  };
}
