import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Repeater } from 'graphql-yoga';
import { allCountries } from './atlas.ts';
import type { Country } from './atlas.ts';

/**
 * A country at once, then one per interval. The next is drawn once the last was taken, so that a slow reader
 * gets fewer and no backlog; a reader that leaves ends the timer.
 */
export function tickCountries({ intervalMs, times }: { intervalMs: number; times: number }) {
  return new Repeater<Country>(async (push, stop) => {
    const left = new AbortController();
    void stop.then(() => {
      left.abort();
    });
    const isLeft = () => left.signal.aborted;
    for (let sent = 0; sent < times && !isLeft(); sent += 1) {
      // An abort rejects the delay, and the loop's condition then ends it.
      if (sent > 0) await delay(intervalMs, undefined, { signal: left.signal }).catch(() => undefined);
      const country = allCountries[randomInt(allCountries.length)];
      if (country !== undefined && !isLeft()) await push(country);
    }
    stop();
  });
}
