import type { ReactNode } from 'react';
import { ApiError } from '../../api/client.ts';

/** Whether the API refused the token of a mail's link: it was used, has expired, or was cut. */
export function isDeadLink(error: unknown): boolean {
  return error instanceof ApiError && error.problem?.errors?.some(({ field }) => field === 'token') === true;
}

/** In place of what the link was for, with the way to a new one. */
export function DeadLink({ children }: { children: ReactNode }) {
  return (
    <>
      <p role="alert">This link was used, has expired, or is incomplete.</p>
      {children}
    </>
  );
}
