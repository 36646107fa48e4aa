import { runService } from '@tollgate/server';
import { compose } from './compose.ts';
import { loadConfig } from './config.ts';

/** In this process, until it is told to stop. */
export function run(): Promise<void> {
  return runService('auth', loadConfig, compose);
}
