import { run } from './service.ts';

await run();
