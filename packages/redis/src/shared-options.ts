/** What holds for a connection to any server, in ioredis' names. */
export type SharedOptions = {
  connectTimeout: number;
  maxRetriesPerRequest: number;
  commandTimeout?: number;
  socketTimeout?: number;
};
