import { describe, expect, test } from '@jest/globals';
import { GraphQLClient } from 'graphql-request';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { obtainToken, postGraphql } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

/** Third-party clients. */
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

    test('the example of the API’s document is a call that the sample API answers', async () => {
      const { demo } = stack();
      const response = await fetch(`${demo.streaming_url}/api/openapi.json`);
      const { paths } = (await response.json()) as {
        paths: Record<
          '/graphql',
          { post: { requestBody: { content: Record<'application/json', { example: { query: string } }> } } }
        >;
      };
      const { query } = paths['/graphql'].post.requestBody.content['application/json'].example;
      const call = await postGraphql(demo, await obtainToken(demo, demo.application), query);
      expect([call.status, await call.json()]).toEqual([
        200,
        { data: { country: { name: 'Japan', capital: 'Tokyo' } } },
      ]);
    });

    test('the metadata at the gateway names the gateway, where the issuer is one (RFC 8414, section 3.3)', async () => {
      const { demo, kind } = stack();
      const response = await fetch(`${demo.streaming_url}/.well-known/oauth-authorization-server`);
      if (kind === 'containers') {
        // The gateway's address outside isn't known when auth is started.
        expect(response.status).toBe(404);
        return;
      }
      expect(await response.json()).toMatchObject({
        issuer: demo.streaming_url,
        token_endpoint: `${demo.streaming_url}/oauth2/token`,
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
