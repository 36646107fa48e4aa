import { Problem } from '@tollgate/http/problem';

export type StreamLimits = {
  /** Streams of this gateway, to all addresses of all versions of the API. */
  max: number;
  maxPerPayer: number;
};

export type StreamSlots = {
  /**
   * Returns what gives the slot back.
   * @throws {Problem} too_many_streams for the payer's own; service_unavailable if the gateway has no more
   */
  take: (payerId: number) => () => void;
  open: () => number;
};

/** Bounds the open streams of HTTP, each of which has a connection of its own to the upstream (ADR 0084). */
export function createStreamSlots({ max, maxPerPayer }: StreamLimits): StreamSlots {
  const ofPayers = new Map<number, number>();
  let open = 0;
  return {
    take: (payerId) => {
      const ofPayer = ofPayers.get(payerId) ?? 0;
      if (ofPayer >= maxPerPayer) throw new Problem('too_many_streams', { headers: { 'retry-after': '1' } });
      if (open >= max) {
        throw new Problem('service_unavailable', {
          cause: new Error('as many streams as UPSTREAM_STREAMS are open'),
        });
      }
      open += 1;
      ofPayers.set(payerId, ofPayer + 1);
      return () => {
        open -= 1;
        const left = (ofPayers.get(payerId) ?? 0) - 1;
        if (left > 0) ofPayers.set(payerId, left);
        else ofPayers.delete(payerId);
      };
    },
    open: () => open,
  };
}
