import type { AdmissionKind } from '../admission/admit-script.ts';
import { fieldValues } from '@tollgate/http/request-head';
import { mediaRanges } from './media-ranges.ts';

/** A subscription if a stream is preferred to any other type: some clients list streams after JSON with every query. */
export function callKind(rawHeaders: readonly string[]): AdmissionKind {
  let best: { kind: AdmissionKind; quality: number } = { kind: 'call', quality: 0 };
  for (const value of fieldValues(rawHeaders, 'accept')) {
    for (const { type, parameters, quality } of mediaRanges(value)) {
      if (quality > best.quality) best = { kind: kindOf(type, parameters), quality };
    }
  }
  return best.kind;
}

function kindOf(type: string, parameters: readonly string[]): AdmissionKind {
  if (type === 'text/event-stream') return 'subscription';
  const isSubscription = parameters.some((parameter) => parameter.startsWith('subscriptionspec='));
  return type === 'multipart/mixed' && isSubscription ? 'subscription' : 'call';
}
