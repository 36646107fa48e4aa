import type { Request, Response } from 'express';
import { callerOf } from '../http/caller-address.ts';
import { refuseExceeded } from '../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../identity/attempts/attempt-counts.ts';

export type AttemptNeeds = { counts: AttemptCounts };

/** Requests of one address before it has signed in: each makes work. */
const ATTEMPTS_PER_ADDRESS = 100;
const ATTEMPTS_WINDOW_SEC = 900;

/** @throws {Problem} too_many_requests */
export async function countAttempt({ counts }: AttemptNeeds, req: Request, res: Response): Promise<void> {
  const subject = `operator sign-in address ${callerOf(req, res).addressGroup}`;
  refuseExceeded(await counts.take([{ subject, max: ATTEMPTS_PER_ADDRESS, windowSec: ATTEMPTS_WINDOW_SEC }]));
}
