import type { IncomingHttpHeaders } from 'node:http';
import { rateLimitFields } from '../../admission/rate-limit-state.ts';
import type { RateLimitState } from '../../admission/rate-limit-state.ts';
import { connectionOptions, forwardsAnswerField } from '../../http/forwardable.ts';
import { leadsOutside } from './answer-rules.ts';
import type { AnswerRules } from './answer-rules.ts';

/** The end-to-end header fields of a response without `drops`, as a flat list. Content-Length stays. */
export function endToEndFields(headers: IncomingHttpHeaders, drops: ReadonlySet<string>): string[] {
  const { connection = [] } = headers as { connection?: string | string[] };
  const listed = connectionOptions(typeof connection === 'string' ? [connection] : connection);
  const fields: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || drops.has(name) || !forwardsAnswerField(name, listed)) continue;
    if (typeof value === 'string') fields.push(name, value);
    else for (const one of value) fields.push(name, one);
  }
  return fields;
}

/** The header fields of a data call's response: the upstream's, then the gateway's, as a flat list. */
export function answerFields(
  status: number,
  headers: IncomingHttpHeaders,
  rules: AnswerRules,
  own: { requestId: string; billingStatus: string; points: number; rateLimitState: RateLimitState },
): string[] {
  const fields = endToEndFields(headers, rules.drops);
  const { location } = headers as { location?: string | string[] };
  if (typeof location === 'string' && leadsOutside(location, rules.upstreamHosts))
    fields.push('location', location);
  // RFC 9209: tells the upstream's error from the gateway's own.
  if (status >= 400) fields.push('proxy-status', `tollgate; received-status=${String(status)}`);
  fields.push(...rules.adds);
  fields.push('x-request-id', own.requestId);
  fields.push('x-points-cost', String(own.points));
  fields.push('x-billing-status', own.billingStatus);
  const rateLimitState = rateLimitFields(own.rateLimitState, own.points);
  for (const name in rateLimitState) fields.push(name, rateLimitState[name] ?? '');
  return fields;
}

/** Whether a response can only be a subscription's: events, or the parts of the protocol for subscriptions. */
export function isSubscriptionStream({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && /^(?:text\/event-stream\b|multipart\/mixed\b.*subscriptionspec=)/i.test(type);
}

/** Whether a response has parts: those of a subscription, or of one query with `@defer`. */
export function isMultipart({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && /^multipart\/mixed\b/i.test(type);
}

/** Whether a caller needs the whole response before it can use it, as with JSON, for which no type is taken. */
export function isDocument({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type === undefined || /^application\/(?:graphql-response\+)?json[\t ]*(?:;|$)/i.test(type);
}
