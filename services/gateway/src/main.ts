import { runService } from '@tollgate/server';
import { compose } from './compose.ts';
import { loadConfig } from './config.ts';

await runService('gateway', loadConfig, compose);
