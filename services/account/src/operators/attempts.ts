import type { Request, Response } from 'express';
import { callerOf } from '../http/caller-address.ts';
import { refuseExceeded } from '../identity/attempts/attempt-counts.ts';
import type { AttemptCounts, AttemptLimit } from '../identity/attempts/attempt-counts.ts';

export type AttemptNeeds = { counts: AttemptCounts };

/** Requests of one address before it has signed in: each makes work. */
const ATTEMPTS_PER_ADDRESS = 100;
const ATTEMPTS_WINDOW_SEC = 900;

function limitsOf(req: Request, res: Response): AttemptLimit[] {
  const subject = `operator sign-in address ${callerOf(req, res).addressGroup}`;
  return [{ subject, max: ATTEMPTS_PER_ADDRESS, windowSec: ATTEMPTS_WINDOW_SEC }];
}

/** @throws {Problem} too_many_requests */
export async function countAttempt({ counts }: AttemptNeeds, req: Request, res: Response): Promise<void> {
  refuseExceeded(await counts.take(limitsOf(req, res)));
}

/** Both steps of a sign-in that has succeeded: all of a company may have one address. */
export async function giveBackSignIn({ counts }: AttemptNeeds, req: Request, res: Response): Promise<void> {
  for (let step = 0; step < 2; step += 1) await counts.giveBack(limitsOf(req, res));
}
