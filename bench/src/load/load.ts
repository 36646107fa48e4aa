/** One server of a part: what is sent to it again and again, as a form by POST or a GET, and whose CPU is read. */
export type Target = {
  pid: number;
  url: string;
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string;
};

export type Round = {
  perSec: number;
  /** Share of one core that the server used, from 0 to 1. */
  serverCpu: number;
  /** The same of the load generator. */
  loadCpu: number;
};

export const CONNECTIONS = 32;
