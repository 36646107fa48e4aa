import { createHmac } from 'node:crypto';
import type { StripeEvent } from './objects/event.ts';
import { stateFirstLines } from './stated-lines.ts';

type Webhook = { url: string; secret: string };

/** How events leave. A test holds them back, doubles them and lets them go in another order. */
type DeliveryPlan = { hold: boolean; copies: number };

export type Deliveries = {
  /** How many endpoints an event is sent to. */
  endpoints: 0 | 1;
  send: (event: StripeEvent) => void;
  plan: (changes: Partial<DeliveryPlan>) => void;
  /** What is held back, in this order or the reverse. @returns how many */
  release: (order: 'kept' | 'reversed') => number;
  /** Copies that were sent and are not acknowledged yet; what is held back isn't counted. */
  pending: () => number;
  close: () => void;
};

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;
const ATTEMPT_TIMEOUT_MS = 10_000;

/**
 * Signs as Stripe does: `t=…,v1=HMAC-SHA256(secret, "t.body")` (docs.stripe.com/webhooks, "Verify manually"). Other
 * answers than 2xx are tried again, sooner than Stripe does.
 */
export function createDeliveries(webhook: Webhook | null): Deliveries {
  const plan: DeliveryPlan = { hold: false, copies: 1 };
  const timers = new Set<NodeJS.Timeout>();
  let held: StripeEvent[] = [];
  let pending = 0;

  async function attempt(to: Webhook, event: StripeEvent, attempts: number): Promise<void> {
    if (await post(to, event)) {
      event.pending_webhooks = 0;
      pending -= 1;
      return;
    }
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        void attempt(to, event, attempts + 1);
      },
      Math.min(FIRST_RETRY_MS * 2 ** attempts, LAST_RETRY_MS),
    );
    timers.add(timer);
  }

  function begin(event: StripeEvent): void {
    if (webhook === null) return;
    for (let copy = 0; copy < plan.copies; copy += 1) {
      pending += 1;
      void attempt(webhook, event, 0);
    }
  }

  return {
    endpoints: webhook === null ? 0 : 1,
    send: (event) => {
      if (plan.hold) held.push(event);
      else begin(event);
    },
    plan: (changes) => {
      Object.assign(plan, changes);
    },
    release: (order) => {
      const released = order === 'kept' ? held : held.toReversed();
      held = [];
      for (const event of released) begin(event);
      return released.length;
    },
    pending: () => pending,
    close: () => {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** @returns whether it was acknowledged */
async function post({ url, secret }: Webhook, event: StripeEvent): Promise<boolean> {
  // Stripe indents: a receiver that parses before it verifies has another text.
  const body = JSON.stringify(event, stateFirstLines, 2);
  // A test clock moves objects, never the time of a delivery.
  const seconds = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': `t=${seconds},v1=${signature}`,
        'user-agent': 'Stripe/1.0 (sample)',
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
