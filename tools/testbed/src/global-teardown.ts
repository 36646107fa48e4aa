import { runDirectory } from './config.ts';
import { endRun } from './run.ts';

export default async function tearDown(): Promise<void> {
  await endRun(runDirectory());
}
