import type { ConnectionOptions } from 'node:tls';

export type SharedOptions = {
  connectTimeout: number;
  maxRetriesPerRequest: number;
  commandTimeout?: number;
  socketTimeout?: number;
  reconnectOnError: (error: Error) => boolean;
  maxLoadingRetryTime: number;
  tls?: ConnectionOptions;
};
