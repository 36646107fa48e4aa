import type { Door } from './calls.ts';

/** What every peer is told: where to introspect, as whom, and where to forward to. */
export type PeerSetting = {
  upstreamUrl: string;
  introspectionUrl: string;
  clientId: string;
  clientSecret: string;
};

/** A peer that runs, and what ours is to be beside it; without a target where none was set. */
export type Peer = { door: Door; version: string; targetRatio?: number };
