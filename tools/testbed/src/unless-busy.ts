import { waitFor } from '@tollgate/stack/wait-for';

/** Sends a request again while a service has no room for it, as on a machine that runs other suites, too. */
export function unlessBusy<Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  return waitFor(async () => {
    const answer = await send();
    return answer.status === 503 ? undefined : answer;
  });
}
