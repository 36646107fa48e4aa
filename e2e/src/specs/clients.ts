import { describe, expect, test } from '@jest/globals';
import { GraphQLClient } from 'graphql-request';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { obtainToken } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

/** Clients that nobody here wrote. */
export function clients(stack: () => Stack): void {
  describe('other people’s clients', () => {
    test('openid-client gets a token that graphql-request calls the API with', async () => {
      const { demo } = stack();
      const { client_id, client_secret } = demo.application;
      const configuration = new openid.Configuration(
        { issuer: demo.auth_url, token_endpoint: `${demo.auth_url}/oauth2/token` },
        client_id,
        undefined,
        openid.ClientSecretPost(client_secret),
      );
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so as a warning: the stack under test speaks http on loopback
      openid.allowInsecureRequests(configuration);
      const granted = await openid.clientCredentialsGrant(configuration, { scope: 'api' });
      expect(granted).toMatchObject({ token_type: 'bearer', scope: 'api' });
      const client = new GraphQLClient(`${demo.streaming_url}/graphql`, {
        headers: { authorization: `Bearer ${granted.access_token}` },
      });
      expect(await client.request('{ country(code: "JP") { name } }')).toEqual({
        country: { name: 'Japan' },
      });
    });

    test('oauth4webapi introspects an active token, and one that never was', async () => {
      const { demo } = stack();
      const server: oauth.AuthorizationServer = {
        issuer: demo.auth_url,
        introspection_endpoint: `${demo.private.auth_url}/oauth2/introspect`,
      };
      const client: oauth.Client = { client_id: demo.private.client_id };
      const introspect = async (token: string) =>
        oauth.processIntrospectionResponse(
          server,
          client,
          await oauth.introspectionRequest(
            server,
            client,
            oauth.ClientSecretBasic(demo.private.client_secret),
            token,
            // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
            { [oauth.allowInsecureRequests]: true },
          ),
        );
      expect(await introspect(await obtainToken(demo, demo.application))).toMatchObject({
        active: true,
        scope: 'api',
        client_id: demo.application.client_id,
        sub: String(demo.account_id),
        token_type: 'bearer',
      });
      expect(await introspect('no-such-token')).toEqual({ active: false });
    });
  });
}
