import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';

/** What this turn of the event loop still has to do at its end. */
const tasks: (() => void)[] = [];
let corked: Redis['stream'][] = [];
let isDue = false;

/**
 * Runs a task at the end of this turn of the event loop, when everything that came in with it is known. What it
 * sends goes out in the same write as the turn's other commands.
 */
export function atTurnEnd(task: () => void): void {
  tasks.push(task);
  endTurnLater();
}

/**
 * From now on the commands of one turn of the event loop go out in one write, for each server: a write for each
 * command is a good part of a busy process' time.
 *
 * Not by ioredis' auto-pipelining: its pipelines cost a third of each command's time again, and on a Redis
 * Cluster it takes a script's arguments for key numbers and, while a slot moves, fails a pipeline's commands
 * because of others that happened to be sent in the same turn.
 */
export function gatherWrites(redis: Redis | Cluster): void {
  if (!(redis instanceof Cluster)) {
    gatherNodeWrites(redis);
    return;
  }
  for (const node of redis.nodes()) gatherNodeWrites(node);
  redis.on('+node', gatherNodeWrites);
}

function gatherNodeWrites(node: Redis): void {
  const sendCommand = node.sendCommand.bind(node);
  node.sendCommand = (command, gathered) => {
    // There is none before the first connection.
    const stream = node.stream as Redis['stream'] | undefined;
    if (stream?.writableCorked === 0) {
      stream.cork();
      corked.push(stream);
      endTurnLater();
    }
    return sendCommand(command, gathered);
  };
}

function endTurnLater(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  try {
    // A task may add another.
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task();
  } finally {
    isDue = false;
    if (tasks.length > 0) endTurnLater();
    const streams = corked;
    corked = [];
    for (const stream of streams) stream.uncork();
  }
}
