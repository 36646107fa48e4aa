import type { Door } from './calls.ts';

export type PeerSetting = {
  upstreamUrl: string;
  introspectionUrl: string;
  clientId: string;
  clientSecret: string;
};

/** Without `targetRatio`, there is no goal. */
export type Peer = { door: Door; version: string; targetRatio?: number };
