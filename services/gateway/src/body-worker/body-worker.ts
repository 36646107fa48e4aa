import { parentPort } from 'node:worker_threads';
import { createRunJob } from './jobs.ts';
import type { Job } from './jobs.ts';

const run = createRunJob();

parentPort?.on('message', (job: Job) => {
  const answer = run(job);
  parentPort?.postMessage(answer, answer instanceof Uint8Array ? [answer.buffer] : []);
});
