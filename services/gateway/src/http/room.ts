import { Problem } from '@tollgate/http/problem';

/** What one call takes of a room that payers share. */
export type Place = {
  /** Makes it as large as that, unless it is larger. @throws {Problem} as `take` */
  reach: (amount: number) => void;
  /** May be called again. */
  release: () => void;
};

export type Room = {
  /** @throws {Problem} the room's for the payer if its part is used up, else service_unavailable. */
  take: (payerId: number, amount: number) => Place;
  taken: () => number;
};

export type RoomOptions = {
  total: number;
  perPayer: number;
  tooMuchOfPayer: () => Problem;
  /** What is used up, for the log. */
  what: string;
};

/** A room of which no payer gets more than a part, so that one can't hold up the others (docs/design/forwarding.md). */
export function createRoom({ total, perPayer, tooMuchOfPayer, what }: RoomOptions): Room {
  const byPayer = new Map<number, number>();
  let taken = 0;

  function add(payerId: number, amount: number): void {
    const ofPayer = (byPayer.get(payerId) ?? 0) + amount;
    taken += amount;
    if (ofPayer === 0) byPayer.delete(payerId);
    else byPayer.set(payerId, ofPayer);
  }

  function assertFits(payerId: number, amount: number): void {
    if ((byPayer.get(payerId) ?? 0) + amount > perPayer) throw tooMuchOfPayer();
    if (taken + amount > total) {
      throw new Problem('service_unavailable', { cause: new Error(`too many ${what}`) });
    }
  }

  return {
    take: (payerId, first) => {
      let amount = 0;
      const reach = (wanted: number) => {
        if (wanted <= amount) return;
        assertFits(payerId, wanted - amount);
        add(payerId, wanted - amount);
        amount = wanted;
      };
      reach(first);
      return {
        reach,
        release: () => {
          add(payerId, -amount);
          amount = 0;
        },
      };
    },
    taken: () => taken,
  };
}
