import { Problem } from '@tollgate/http/problem';

/** Keeps only an error's message: ioredis attaches the command's arguments, which contain client records. */
export async function redisAnswer<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Problem('service_unavailable', { cause: new Error(`Redis: ${message}`) });
  }
}
