/** The rules of teams (service specification, "Team"), without SQL and without a clock. */

/** From when it is made. */
export const INVITATION_LIFETIME_SEC = 7 * 86_400;

/**
 * Who is in a team or may come into it. The manager counts, and so does who is invited: an invitation has its slot
 * from the start, so that whoever accepts one finds room.
 */
export type Taken = { members: number; pending: number };

/** Whether slots are used up; without a limit in the manager's plan they never are. */
export function isFull(taken: number, slotsLimit: number | null): slotsLimit is number {
  return slotsLimit !== null && taken >= slotsLimit;
}
