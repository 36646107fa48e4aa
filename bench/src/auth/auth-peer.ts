/** Another authorization server, with one client. */
export type AuthPeer = {
  name: string;
  pid: number;
  tokenUrl: string;
  introspectionUrl: string;
  introspectsByBasic: boolean;
  clientId: string;
  clientSecret: string;
  version: string;
};
