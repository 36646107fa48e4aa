import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Problem } from '@tollgate/http/problem';
import { createRoom } from '../http/room.ts';
import type { SchemaTexts } from '../operation-reader/long-bodies.ts';
import type { Answers, Job } from './jobs.ts';

export type WorkerPoolOptions = {
  /** Of a body, which decides on the memory of a worker. */
  maxBodyBytes: number;
  /** Default: 2. */
  threads?: number;
  /** Default: the program of this folder. */
  program?: URL;
  /** For a job with a body of so many bytes. */
  timeLimitMs?: (bodyBytes: number) => number;
};

export type WorkerPool = {
  /** Rejects with service_unavailable if the worker ends or takes too long, too_many_requests if the payer has too many. */
  run: <Kind extends Job['kind']>(job: Extract<Job, { kind: Kind }>, payerId: number) => PendingJob<Kind>;
  close: () => Promise<void>;
};

type PendingJob<Kind extends Job['kind']> = {
  answer: Promise<Answers[Kind]>;
  /** Drops it if it hasn't begun: it is never answered then. False if it has begun. */
  drop: () => boolean;
};

const THREADS = 2;
/** Jobs under way, of one payer and of all. */
const MAX_JOBS_OF_PAYER = 64;
const MAX_JOBS = 256;
/** A thread takes memory. */
const IDLE_MS = 30_000;

/** Parsed JSON takes many times its text. */
const HEAP_PER_BODY = 64;
const HEAP_MIN_MB = 128;
const MIB = 1_048_576;

/** A hundred times what the worst bodies take. */
const timeLimit = (bodyBytes: number) => 5_000 + bodyBytes / 100;

type Waiting = {
  job: Job;
  answered: (answer: Answers[Job['kind']]) => void;
  failed: (problem: Problem) => void;
};

type Thread = {
  worker: Worker;
  /** The schemas that it has. */
  schemas: Map<string, SchemaTexts>;
  /** The job that it runs. */
  running: { waiting: Waiting; payerId: number; overdue: NodeJS.Timeout } | null;
  idle: NodeJS.Timeout | undefined;
};

/**
 * Runs jobs in threads, which start with the first job and end when there are none. Payers take turns, and none has more
 * than one thread while others wait. A thread that fails takes its job with it, and nothing else.
 */
export function createWorkerPool({
  maxBodyBytes,
  threads: maxThreads = THREADS,
  program = new URL(`./body-worker${extname(import.meta.url)}`, import.meta.url),
  timeLimitMs = timeLimit,
}: WorkerPoolOptions): WorkerPool {
  const room = createRoom({
    total: MAX_JOBS,
    perHolder: MAX_JOBS_OF_PAYER,
    tooMuchOfHolder: () =>
      new Problem('too_many_requests', {
        detail: 'Too many long request bodies at a time.',
        headers: { 'retry-after': '1' },
      }),
    what: 'long request bodies',
  });
  const threads = new Set<Thread>();
  /** By payer; those that have waited longest for a turn are first. */
  const waiting = new Map<number, Waiting[]>();
  const maxOldGenerationSizeMb = HEAP_MIN_MB + Math.ceil((HEAP_PER_BODY * maxBodyBytes) / MIB);

  function startThread(): Thread {
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb }, execArgv: [] });
    const thread: Thread = { worker, schemas: new Map(), running: null, idle: undefined };
    // It must not keep the process from ending.
    worker.unref();
    worker.on('message', (answer: Answers[Job['kind']]) => {
      finish(thread)?.answered(answer);
      next();
    });
    worker.once('error', (error) => {
      end(thread, error);
    });
    worker.once('exit', (code) => {
      end(thread, new Error(`it ended with ${String(code)}`));
    });
    threads.add(thread);
    return thread;
  }

  function finish(thread: Thread): Waiting | undefined {
    const { running } = thread;
    clearTimeout(running?.overdue);
    thread.running = null;
    return running?.waiting;
  }

  function end(thread: Thread, cause: unknown): void {
    if (!threads.delete(thread)) return;
    clearTimeout(thread.idle);
    void thread.worker.terminate();
    finish(thread)?.failed(failure(cause));
    next();
  }

  function begin(thread: Thread, waiting: Waiting, payerId: number): void {
    const { job } = waiting;
    clearTimeout(thread.idle);
    const overdue = setTimeout(() => {
      end(thread, new Error('it took too long'));
    }, timeLimitMs(job.body.length)).unref();
    thread.running = { waiting, payerId, overdue };
    // A copy, since others may hold the bytes.
    const body = new Uint8Array(job.body);
    thread.worker.postMessage({ ...withKnownSchema(job, thread), body }, [body.buffer]);
  }

  function takeFrom(payerId: number, jobs: Waiting[]): Waiting | undefined {
    const first = jobs.shift();
    waiting.delete(payerId);
    if (jobs.length > 0) waiting.set(payerId, jobs);
    return first;
  }

  /** Gives threads that are free jobs that wait. */
  function next(): void {
    for (const [payerId, jobs] of [...waiting]) {
      const all = [...threads];
      const isServed = all.some(({ running }) => running?.payerId === payerId);
      if (isServed && waiting.size > 1) continue;
      const free = all.find(({ running }) => running === null);
      if (free === undefined && all.length >= maxThreads) break;
      const job = takeFrom(payerId, jobs);
      if (job !== undefined) begin(free ?? startThread(), job, payerId);
    }
    for (const thread of threads) {
      if (thread.running !== null) continue;
      clearTimeout(thread.idle);
      thread.idle = setTimeout(() => {
        end(thread, new Error('it was idle'));
      }, IDLE_MS).unref();
    }
  }

  return {
    run: <Kind extends Job['kind']>(job: Extract<Job, { kind: Kind }>, payerId: number) => {
      const place = room.take(payerId, 1);
      const { promise, resolve, reject } = Promise.withResolvers<Answers[Kind]>();
      const one: Waiting = {
        job,
        answered: (answer) => {
          place.release();
          // A thread answers the job that it was given.
          resolve(answer as Answers[Kind]);
        },
        failed: (problem) => {
          place.release();
          reject(problem);
        },
      };
      waiting.set(payerId, [...(waiting.get(payerId) ?? []), one]);
      next();
      return {
        answer: promise,
        drop: () => {
          const jobs = waiting.get(payerId) ?? [];
          if (!jobs.includes(one)) return false;
          const others = jobs.filter((each) => each !== one);
          if (others.length === 0) waiting.delete(payerId);
          else waiting.set(payerId, others);
          place.release();
          return true;
        },
      };
    },
    close: async () => {
      const all = [...threads];
      for (const jobs of waiting.values())
        for (const { failed } of jobs) failed(failure('the gateway stops'));
      waiting.clear();
      for (const thread of all) end(thread, new Error('the gateway stops'));
      await Promise.all(all.map(({ worker }) => worker.terminate()));
    },
  };
}

/** A schema is sent once to each thread. */
function withKnownSchema(job: Job, { schemas }: Pick<Thread, 'schemas'>): Job {
  if (job.kind !== 'prices' || job.schema === null) return job;
  const { apiVersion, schema } = job;
  if (schemas.get(apiVersion) === schema) return { ...job, schema: null };
  schemas.set(apiVersion, schema);
  return job;
}

function failure(cause: unknown): Problem {
  return new Problem('service_unavailable', {
    cause: new Error('the worker for long bodies has failed', { cause }),
  });
}
