import { setTimeout as delay } from 'node:timers/promises';
import type Stripe from 'stripe';

/** An account with more has other users, and each look would take minutes. */
const MOST_EVENTS = 5_000;

export type EventPump = {
  /** Why the last look failed; undefined if it didn't. */
  problem: () => string | undefined;
  close: () => Promise<void>;
};

/**
 * Brings Stripe's events to a service that has no public address: reads them at Stripe, and delivers each once, signed by
 * the official package, until it is acknowledged. What was there before is left out. All since `sinceSec` are read each
 * time, since those of a test clock may have its time.
 */
export async function startEventPump(
  stripe: Stripe,
  to: { url: string; secret: string },
  { sinceSec, pollMs }: { sinceSec: number; pollMs: number },
): Promise<EventPump> {
  const done = new Set((await eventsSince(stripe, sinceSec)).map(({ id }) => id));
  const closing = new AbortController();
  let problem: string | undefined;

  async function look(): Promise<void> {
    const events = await eventsSince(stripe, sinceSec);
    // Stripe lists the newest first.
    for (const event of events.toReversed()) {
      if (done.has(event.id) || closing.signal.aborted) continue;
      await deliver(stripe, event, to);
      done.add(event.id);
    }
  }

  async function pump(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await look();
        problem = undefined;
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
      }
      await delay(pollMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  const pumping = pump();
  return {
    problem: () => problem,
    close: async () => {
      closing.abort();
      await pumping;
    },
  };
}

async function eventsSince(stripe: Stripe, sinceSec: number): Promise<Stripe.Event[]> {
  const events: Stripe.Event[] = [];
  for await (const event of stripe.events.list({ created: { gte: sinceSec }, limit: 100 })) {
    events.push(event);
    if (events.length > MOST_EVENTS) {
      throw new Error(`The account has more than ${String(MOST_EVENTS)} events: use a sandbox of its own.`);
    }
  }
  return events;
}

async function deliver(
  stripe: Stripe,
  event: Stripe.Event,
  { url, secret }: { url: string; secret: string },
): Promise<void> {
  const payload = JSON.stringify(event, null, 2);
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
    body: payload,
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${event.type} was answered with ${String(response.status)}`);
}
