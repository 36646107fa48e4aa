/** The package has types only for the server around the grant (docs/design/tokens.md). */
declare module 'oauth2-server/lib/grant-types/client-credentials-grant-type.js' {
  import type { Client, User } from 'oauth2-server';

  type IssuedToken = { accessToken: string; scope?: string[] };

  type GrantModel = {
    getUserFromClient: (client: Client) => User;
    validateScope: (user: User, client: Client, scope: string[] | undefined) => string[];
    generateAccessToken: (client: Client, user: User, scope: string[]) => string;
    saveToken: (token: IssuedToken, client: Client, user: User) => Promise<IssuedToken | null>;
  };

  export default class ClientCredentialsGrantType {
    constructor(options: { model: GrantModel; accessTokenLifetime: number });
    /** Resolves with the result of saveToken, and rejects with the model's errors. */
    handle(request: { body: { scope: string } }, client: Client): Promise<IssuedToken | null>;
  }
}
