import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';

const tasks: (() => void)[] = [];
let corked: Redis['stream'][] = [];
let isDue = false;

/** Runs the task at the end of this turn of the event loop; its commands join the turn's write. */
export function onBatchEnd(task: () => void): void {
  tasks.push(task);
  endBatchLater();
}

/**
 * Writes each server's commands of one turn of the event loop at once. ioredis' auto-pipelining costs more, takes a
 * script's arguments for key numbers on a Redis Cluster, and fails unrelated commands while a slot moves (ADR 0018).
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
  setImmediate(endBatch);
}

function endBatch(): void {
  try {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task();
  } finally {
    isDue = false;
    if (tasks.length > 0) endBatchLater();
    const streams = corked;
    corked = [];
    for (const stream of streams) stream.uncork();
  }
}
