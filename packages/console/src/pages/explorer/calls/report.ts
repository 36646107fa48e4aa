/** What is known of one call or subscription besides its result. */
export type CallReport = {
  kind: 'call';
  /** 0 where no response came back. */
  status: number;
  refusal: Refusal | null;
  durationMs: number;
  bytes: number;
  requestId: string | null;
  pointsCost: number | null;
  /** What it could cost at most, by its text. */
  pointsEstimate: number | null;
  pointsRemaining: number | null;
  /** Calls that the rate limit still allows, and in how many seconds it allows more. */
  rate: { remaining: number; resetSec: number } | null;
};

export type SubscriptionReport = {
  kind: 'subscription';
  state: 'connecting' | 'open' | 'ended';
  refusal: Refusal | null;
  messages: number;
  /** What it costs; null until the gateway has told it. */
  price: SubscriptionPrice | null;
  /** What its messages have stated. */
  statedPoints: number;
  bytes: number;
  startedMs: number;
  durationMs: number;
  requestId: string | null;
};

/** Each minute that has begun, and the path below `extensions` at which a message states what it costs on top. */
export type SubscriptionPrice = { pointsPerMinute: number; extension: string };

export type Report = CallReport | SubscriptionReport;

/** A code of docs/errors.md, with what the gateway said. */
export type Refusal = { code: string; message: string; retryAfterSec: number | null };

/** The first of `errors` with a code of the gateway. */
export function refusalOf(errors: unknown): (Refusal & { requestId: string | null }) | null {
  if (!Array.isArray(errors)) return null;
  for (const error of errors as readonly unknown[]) {
    const extensions = memberOf(error, 'extensions');
    const code = memberOf(extensions, 'code');
    const requestId = memberOf(extensions, 'request_id');
    // Errors of the data API may have codes of their own; the gateway's name the request.
    if (typeof code !== 'string' || typeof requestId !== 'string') continue;
    const message = memberOf(error, 'message');
    const retryAfterSec = memberOf(extensions, 'retry_after_sec');
    return {
      code,
      message: typeof message === 'string' ? message : code,
      retryAfterSec: typeof retryAfterSec === 'number' ? retryAfterSec : null,
      requestId,
    };
  }
  return null;
}

/** The points that a message states; 0 without any. */
export function statedPoints(message: unknown, { extension }: SubscriptionPrice): number {
  const path = ['extensions', ...extension.split('.')];
  const points = path.reduce((value, name) => memberOf(value, name), message);
  return typeof points === 'number' && Number.isInteger(points) && points >= 0 ? points : 0;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** A whole number in a header; null where there is none. */
export function numberIn(headers: Headers, name: string): number | null {
  const value = headers.get(name);
  return value !== null && /^\d+$/.test(value) ? Number(value) : null;
}

/** `RateLimit: "rate";r=5999;t=1` (the IETF's draft). */
export function rateIn(headers: Headers): CallReport['rate'] {
  const found = /"rate";r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '');
  return found === null ? null : { remaining: Number(found[1]), resetSec: Number(found[2]) };
}
