import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';

const tasks: (() => void)[] = [];
let corked: Redis['stream'][] = [];
let isDue = false;
let beganMs = 0;
let isLong = false;

const MAX_BATCH_MS = 0.2;

/**
 * Runs the task at the end of this turn of the event loop, or when `endLongBatch` ends the batch; never before the
 * caller's code has ended. The task's commands join the batch's write.
 */
export function onBatchEnd(task: () => void): void {
  tasks.push(task);
  endBatchLater();
}

/**
 * Sends what a turn has gathered if it takes long, so that Redis syncs while the turn goes on, instead of one waiting
 * for the other in turns. It costs Redis more scripts, so it is for commands that wait for the disk
 * (docs/design/tokens.md).
 */
export function endLongBatch(): void {
  if (!isDue || isLong || performance.now() - beganMs <= MAX_BATCH_MS) return;
  isLong = true;
  queueMicrotask(endBatch);
}

/**
 * Writes each server's commands of one batch at once. ioredis' auto-pipelining costs more, takes a script's arguments
 * for key numbers on a Redis Cluster, and fails unrelated commands while a slot moves (docs/design/stores.md).
 */
export function batchWrites(redis: Redis | Cluster): void {
  if (!(redis instanceof Cluster)) {
    batchNodeWrites(redis);
    return;
  }
  for (const node of redis.nodes()) batchNodeWrites(node);
  redis.on('+node', batchNodeWrites);
}

function batchNodeWrites(node: Redis): void {
  const sendCommand = node.sendCommand.bind(node);
  node.sendCommand = (command, ownStream) => {
    const stream = node.stream as Redis['stream'] | undefined;
    if (stream?.writableCorked === 0) {
      stream.cork();
      corked.push(stream);
      endBatchLater();
    }
    return sendCommand(command, ownStream);
  };
}

function endBatchLater(): void {
  if (isDue) return;
  isDue = true;
  beganMs = performance.now();
  setImmediate(endBatch);
}

/** Sends what the turn has gathered so far, at once. */
export function endBatch(): void {
  try {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task();
  } finally {
    isDue = false;
    isLong = false;
    if (tasks.length > 0) endBatchLater();
    const streams = corked;
    corked = [];
    for (const stream of streams) stream.uncork();
  }
}
