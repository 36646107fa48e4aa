import { CONNECTIONS } from './load.ts';
import type { Target } from './load.ts';
import type { Servers } from '../servers.ts';
import { findTools } from '../tools.ts';
import { createWrk } from './wrk.ts';
import type { WrkRound } from './wrk.ts';

/** @throws {Error} if a request is refused or breaks */
export type FullLoad = (target: Target, seconds: number, connections?: number) => Promise<WrkRound>;

/** wrk over kept-alive connections, 32 unless stated. @throws {Error} if wrk can't be downloaded */
export async function createFullLoad(
  servers: Servers,
  say: (line: string) => void,
): Promise<{ fullLoad: FullLoad; versions: { wrk: string } }> {
  const tools = await findTools(servers, say);
  const wrk = createWrk(servers, tools);
  return {
    fullLoad: (target, seconds, connections = CONNECTIONS) => wrk(target, { seconds, connections }),
    versions: { wrk: tools.versions.wrk },
  };
}
