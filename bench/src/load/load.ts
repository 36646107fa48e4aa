export type Target = {
  pid: number;
  url: string;
  method?: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string;
};

export type Round = {
  perSec: number;
  /** Share of one core, from 0 to 1. */
  serverCpu: number;
  loadCpu: number;
};

export const CONNECTIONS = 32;
