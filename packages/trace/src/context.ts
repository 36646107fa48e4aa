import { fieldValues, singleValue } from '@tollgate/http/request-head';

/** The parent of a request's span (W3C Trace Context). */
export type TraceParent = { traceId: string; spanId: string; flags: number; tracestate: string | undefined };

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_TRACESTATE_BYTES = 512;

/** A request's traceparent and tracestate; null if missing or invalid (section 3.2.2). */
export function traceParentOf(rawHeaders: readonly string[]): TraceParent | null {
  const value = singleValue(rawHeaders, 'traceparent');
  if (value === undefined) return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(value) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const tracestate = fieldValues(rawHeaders, 'tracestate').join(',');
  const kept = tracestate !== '' && tracestate.length <= MAX_TRACESTATE_BYTES ? tracestate : undefined;
  return { traceId, spanId, flags: parseInt(flags, 16), tracestate: kept };
}

export function traceFields({ traceId, spanId, flags, tracestate }: TraceParent): string[] {
  const fields = ['traceparent', `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`];
  if (tracestate !== undefined) fields.push('tracestate', tracestate);
  return fields;
}

/** Without a recorder: the caller's trace with the gateway as next hop, or an unsampled one with the request's id. */
export function passedOn(parent: TraceParent | null, requestId: string): string[] {
  const spanId = requestId.slice(0, 16);
  if (parent === null) return ['traceparent', `00-${requestId}-${spanId}-00`];
  // Only the defined flag (section 3.2.2.5).
  return traceFields({ ...parent, spanId, flags: parent.flags & 1 });
}

/** The trace's id in a flat list that begins with traceparent. */
export function traceIdOf(fields: readonly string[]): string {
  return fields[1]?.split('-')[1] ?? '';
}
