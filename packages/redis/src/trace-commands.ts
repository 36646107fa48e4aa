import type { Redis } from 'ioredis';
import { currentTrace } from '@tollgate/log/current-trace';
import type { RedisConnection } from './redis.ts';

/** Makes a span of each command of a traced request. Commands of several requests in one script call are the first's. */
export function traceCommands(redis: RedisConnection): void {
  const sendCommand = redis.sendCommand.bind(redis) as Redis['sendCommand'];
  redis.sendCommand = ((...[command, ...rest]: Parameters<Redis['sendCommand']>) => {
    const ended = currentTrace()?.store('redis', command.name.toUpperCase());
    const sent = sendCommand(command, ...rest);
    if (ended !== undefined)
      void (sent as Promise<unknown>).then(() => {
        ended();
      }, ended);
    return sent;
  }) as typeof redis.sendCommand;
}
