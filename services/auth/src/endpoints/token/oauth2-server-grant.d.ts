/**
 * oauth2-server's client credentials grant by itself. The package's own types know only the server around it,
 * which reads the caller's request; see grant.ts.
 */
declare module 'oauth2-server/lib/grant-types/client-credentials-grant-type.js' {
  import type { Client, User } from 'oauth2-server';

  type IssuedToken = { accessToken: string; scope?: string[] };

  /** Only what has to be waited for is a promise: the library takes both. */
  type GrantModel = {
    getUserFromClient: (client: Client) => User;
    validateScope: (user: User, client: Client, scope: string[] | undefined) => string[];
    generateAccessToken: (client: Client, user: User, scope: string[]) => string;
    saveToken: (token: IssuedToken, client: Client, user: User) => Promise<IssuedToken | null>;
  };

  export default class ClientCredentialsGrantType {
    constructor(options: { model: GrantModel; accessTokenLifetime: number });
    /**
     * What the model's saveToken resolves with.
     * @throws {OAuthError} where the model grants nothing; what the model throws passes as it is
     */
    handle(request: { body: { scope: string } }, client: Client): Promise<IssuedToken | null>;
  }
}
