import type { Door } from './calls.ts';

export type PeerSetting = {
  upstreamUrl: string;
  introspectionUrl: string;
  clientId: string;
  clientSecret: string;
  /** Of the calls. */
  token: string;
};

/** Without `targetRatio`, there is no goal. */
export type Peer = {
  door: Door;
  version: string;
  targetRatio?: number;
  /** Of a peer that admits and records calls as ours does: those that it has recorded so far. */
  recordedCalls?: () => Promise<number>;
};
