import { Problem } from '@tollgate/http/problem';

/** Requests of several steps answer within 10 s, whatever the provider does. */
const DEADLINE_MS = 9_000;

/** What is still under way then goes on; its keys make a repetition harmless. @throws {Problem} payments_unavailable */
export async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Problem('payments_unavailable'));
    }, DEADLINE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
