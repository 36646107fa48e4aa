import type { IncomingHttpHeaders } from 'node:http';
import type { OperationType } from '../../../operation-reader/document-types.ts';
import { rateLimitFields } from '../../admit/rate-limit-state.ts';
import type { RateLimitState } from '../../admit/rate-limit-state.ts';
import { leadsOutside } from './answer-rules.ts';
import type { AnswerRules } from './answer-rules.ts';

/** Flat lists: the upstream's fields, which responses with the same head share, and then the gateway's own. */
export type AnswerFields = { shared: readonly string[]; own: string[] };

/** The header fields of a data call's response. */
export function answerFields(
  status: number,
  headers: IncomingHttpHeaders,
  rules: AnswerRules,
  own: {
    requestId: string;
    billingStatus: string;
    points: number;
    estimatedPoints: number | null;
    rateLimitState: RateLimitState;
  },
): AnswerFields {
  const fields: string[] = [];
  const { location } = headers as { location?: string | string[] };
  if (typeof location === 'string' && leadsOutside(location, rules.upstreamHosts))
    fields.push('location', location);
  // RFC 9209: tells the upstream's error from the gateway's own.
  if (status >= 400) fields.push('proxy-status', `tollgate; received-status=${String(status)}`);
  fields.push(...rules.adds);
  fields.push('x-request-id', own.requestId);
  fields.push('x-points-cost', String(own.points));
  if (own.estimatedPoints !== null) fields.push('x-points-estimate', String(own.estimatedPoints));
  fields.push('x-billing-status', own.billingStatus);
  const rateLimitState = rateLimitFields(own.rateLimitState, own.points);
  for (const name in rateLimitState) fields.push(name, rateLimitState[name] ?? '');
  return { shared: rules.ofUpstream(headers), own: fields };
}

/** Whether a response is a stream of server-sent events. */
export function isEventStream({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && /^text\/event-stream\b/i.test(type);
}

/**
 * Whether a response is a subscription's stream, which costs by the minute. The operation decides: events and parts can
 * also be those of a query.
 */
export function isOpenStream(type: OperationType, headers: IncomingHttpHeaders): boolean {
  if (type === 'subscription') return !isDocument(headers);
  return type === 'unknown' && isSubscriptionStream(headers);
}

/** Whether a response can only be a subscription's: events, or the parts of the protocol for subscriptions. */
export function isSubscriptionStream({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && /^(?:text\/event-stream\b|multipart\/mixed\b.*subscriptionspec=)/i.test(type);
}

/** Whether a response has parts: those of a subscription, or of one query with `@defer`. */
export function isMultipart({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type !== undefined && /^multipart\/mixed\b/i.test(type);
}

/** What begins each part of a multipart response, at the beginning of a line. */
export function multipartDelimiter({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  const [, quoted, token] = /boundary=(?:"([^"]*)"|([^\s;]*))/i.exec(type) ?? [];
  return `--${quoted ?? token ?? '-'}`;
}

/**
 * The content codings of a response, in the order in which they were applied. `identity` is none (RFC 9110, section
 * 12.5.3), and neither is the `none` that GraphQL Yoga states.
 */
export function contentCodings({ 'content-encoding': stated = '' }: IncomingHttpHeaders): string[] {
  const codings = stated.split(',').map((coding) => coding.trim().toLowerCase());
  return codings.filter((coding) => !['', 'identity', 'none'].includes(coding));
}

/** Whether a caller needs the whole response before it can use it, as with JSON, for which no type is taken. */
export function isDocument({ 'content-type': type }: IncomingHttpHeaders): boolean {
  return type === undefined || /^application\/(?:graphql-response\+)?json[\t ]*(?:;|$)/i.test(type);
}
