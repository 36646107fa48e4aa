/** Another authorization server that runs, with one client of its own. */
export type AuthPeer = {
  name: string;
  pid: number;
  tokenUrl: string;
  introspectionUrl: string;
  /** Whether who introspects says who it is, by Basic. */
  introspectsByBasic: boolean;
  clientId: string;
  clientSecret: string;
  version: string;
};
