import { Problem } from '@tollgate/http/problem';

/**
 * A Redis command's answer; whatever goes wrong is `service_unavailable`. Of the error only the message is
 * kept: ioredis attaches the command with its arguments, and those hold client records.
 */
export async function redisAnswer<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Problem('service_unavailable', { cause: new Error(`Redis: ${message}`) });
  }
}
