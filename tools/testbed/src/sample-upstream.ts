import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { startService } from '@tollgate/stack/service';
import { compileCache, runDirectory } from './config.ts';
import { programFile } from './programs.ts';
import { newDirectory, register } from './run.ts';

export type SampleUpstream = {
  /** GraphQL over HTTP; as ws: over WebSocket. */
  url: string;
  stop: () => Promise<void>;
};

export async function startSampleUpstream(): Promise<SampleUpstream> {
  const port = String(await freePort());
  const origin = `http://127.0.0.1:${port}`;
  const service = await startService({
    name: 'upstream',
    entry: programFile('sample-upstream', 'main'),
    env: { ...compileCache(), HOST: '127.0.0.1', PORT: port },
    logFile: join(newDirectory(runDirectory(), 'upstream'), 'log'),
    readyUrl: `${origin}/health`,
    onSpawn: register(runDirectory()),
  });
  return {
    url: `${origin}/graphql`,
    stop: async () => {
      await service.stop();
    },
  };
}
