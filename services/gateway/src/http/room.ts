import { Problem } from '@tollgate/http/problem';

/** What one call takes of a room that callers share. */
export type Place = {
  /** Makes it as large as that, unless it is larger. @throws {Problem} as `take` */
  reach: (amount: number) => void;
  /** May be called again. */
  release: () => void;
};

export type Room<Holder = number> = {
  /** @throws {Problem} the room's for the holder if its part is used up, else service_unavailable. */
  take: (holder: Holder, amount: number) => Place;
  taken: () => number;
};

export type RoomOptions = {
  total: number;
  perHolder: number;
  tooMuchOfHolder: () => Problem;
  /** What is used up, for the log. */
  what: string;
};

/**
 * A room of which no holder, a payer by its ID if nothing else is said, gets more than a part, so that one can't hold up
 * the others (docs/design/forwarding.md).
 */
export function createRoom<Holder = number>(options: RoomOptions): Room<Holder> {
  const { total, perHolder, tooMuchOfHolder, what } = options;
  const byHolder = new Map<Holder, number>();
  let taken = 0;

  function add(holder: Holder, amount: number): void {
    const ofHolder = (byHolder.get(holder) ?? 0) + amount;
    taken += amount;
    if (ofHolder === 0) byHolder.delete(holder);
    else byHolder.set(holder, ofHolder);
  }

  function assertFits(holder: Holder, amount: number): void {
    if ((byHolder.get(holder) ?? 0) + amount > perHolder) throw tooMuchOfHolder();
    if (taken + amount > total) {
      throw new Problem('service_unavailable', { cause: new Error(`too many ${what}`) });
    }
  }

  return {
    take: (holder, first) => {
      let amount = 0;
      const reach = (wanted: number) => {
        if (wanted <= amount) return;
        assertFits(holder, wanted - amount);
        add(holder, wanted - amount);
        amount = wanted;
      };
      reach(first);
      return {
        reach,
        release: () => {
          add(holder, -amount);
          amount = 0;
        },
      };
    },
    taken: () => taken,
  };
}
