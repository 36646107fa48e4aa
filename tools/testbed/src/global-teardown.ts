import { runDirectory } from './config.ts';
import { endRun } from './run.ts';

/** After all suites, failed ones included: nothing of the run is left. */
export default async function tearDown(): Promise<void> {
  await endRun(runDirectory());
}
