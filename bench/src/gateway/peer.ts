import type { Door } from './calls.ts';

export type PeerSetting = {
  upstreamUrl: string;
  introspectionUrl: string;
  clientId: string;
  clientSecret: string;
  /** Of the calls. */
  token: string;
};

export type Peer = {
  door: Door;
  version: string;
  /** The goals, with one account calling and with many; without one, there is none. */
  targetRatio?: { one: number; many?: number };
  /** Of a peer that admits and records calls as ours does: those that it has recorded so far. */
  recordedCalls?: () => Promise<number>;
};
