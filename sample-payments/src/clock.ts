/** Stripe's time in whole seconds; a test moves it. */
export type Clock = { now: () => number; advance: (seconds: number) => void; offset: () => number };

export function createClock(offset = 0): Clock {
  let ahead = offset;
  return {
    now: () => Math.floor(Date.now() / 1_000) + ahead,
    advance: (seconds) => {
      ahead += seconds;
    },
    offset: () => ahead,
  };
}
