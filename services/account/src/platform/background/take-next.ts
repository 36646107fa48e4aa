import { isServiceUnavailable } from '@tollgate/http/problem';
import type { Query, Transact } from '../database/query.ts';

/**
 * Takes what is due next and works on it, both in one transaction. `onFailed` puts off what fails, so that it holds up
 * nothing else. False if nothing was due. @throws {Problem} service_unavailable
 */
export async function takeNext<Taken, Result>(
  transact: Transact,
  step: {
    /** Undefined if nothing is due; skips what other replicas are taking. */
    take: (query: Query) => Promise<Taken | undefined>;
    work: (query: Query, taken: Taken) => Promise<Result>;
    /** After the commit. */
    onDone?: (result: Result) => void;
    onFailed: (taken: Taken, error: unknown) => Promise<void>;
  },
): Promise<boolean> {
  let taken: Taken | undefined;
  let done: { result: Result } | undefined;
  try {
    done = await transact(async (inside) => {
      taken = await step.take(inside);
      return taken === undefined ? undefined : { result: await step.work(inside, taken) };
    });
  } catch (error) {
    if (taken === undefined || isServiceUnavailable(error)) throw error;
    await step.onFailed(taken, error);
    return true;
  }
  if (done === undefined) return false;
  step.onDone?.(done.result);
  return true;
}
