export const INVITATION_LIFETIME_SEC = 7 * 86_400;

/** A pending invitation holds a slot from the start, so that there is room when it is accepted. */
export type Taken = { members: number; pending: number };

export function isFull(taken: number, slotsLimit: number | null): slotsLimit is number {
  return slotsLimit !== null && taken >= slotsLimit;
}
