import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';

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
      setImmediate(() => {
        stream.uncork();
      });
    }
    return sendCommand(command, gathered);
  };
}
