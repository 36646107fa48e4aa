import { newId } from '../ids.ts';

/** The version that the pinned `stripe` package speaks, and that events have. */
export const API_VERSION = '2026-10-28.endive';

export function newEvent(input: {
  created: number;
  type: string;
  object: object;
  previous: object | undefined;
  pending_webhooks: number;
  request: { id: string | null; idempotency_key: string | null };
}) {
  return {
    id: newId('evt'),
    object: 'event' as const,
    api_version: API_VERSION,
    created: input.created,
    data: {
      object: structuredClone(input.object),
      ...(input.previous && { previous_attributes: input.previous }),
    },
    livemode: false,
    pending_webhooks: input.pending_webhooks,
    request: input.request,
    type: input.type,
  };
}

export type StripeEvent = ReturnType<typeof newEvent>;
