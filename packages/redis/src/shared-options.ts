export type SharedOptions = {
  connectTimeout: number;
  maxRetriesPerRequest: number;
  commandTimeout?: number;
  socketTimeout?: number;
};
