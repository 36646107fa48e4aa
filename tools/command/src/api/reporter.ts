import { z } from 'zod';
import type { Connection } from '../config.ts';
import type { ReportedEvent } from '../seed/history.ts';
import { exchange } from './client.ts';

const reportedSchema = z.object({ counted: z.int(), repeated: z.int(), refused: z.int() });

/** What became of the events of a report. */
export type Reported = z.output<typeof reportedSchema>;

/**
 * Reports events as a system with a reporter's credential does.
 * @throws {Failure} what the API refuses, or that it can't be reached
 */
export type Reporter = (events: readonly ReportedEvent[]) => Promise<Reported>;

/** `POST /private/usage-reports` is for other systems, so it isn't in the operators' document. */
export function createReporter(
  { url, authorization }: Pick<Connection, 'url' | 'authorization'>,
  timeoutMs: number,
): Reporter {
  return async (events) => {
    const request = new Request(`${url}/private/usage-reports`, {
      method: 'POST',
      headers: { authorization, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ events }),
      redirect: 'error',
    });
    const response = await exchange(url, timeoutMs, request);
    return reportedSchema.parse(await response.json());
  };
}
