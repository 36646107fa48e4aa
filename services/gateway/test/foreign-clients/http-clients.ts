import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { Client, CombinedError, fetchExchange } from '@urql/core';
import { ClientError, GraphQLClient } from 'graphql-request';

/** Third-party clients of GraphQL over HTTP, each used as its documentation says. */
export type HttpClient = {
  name: string;
  /** The data of a query; throws the client's own error. */
  query: (url: string, token: string, query: string) => Promise<unknown>;
  /** `extensions.code` of the first GraphQL error in what the client threw. */
  codeOf: (error: unknown) => unknown;
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const graphqlRequest: HttpClient = {
  name: 'graphql-request',
  query: (url, token, query) => new GraphQLClient(url, { headers: bearer(token) }).request(query),
  codeOf: (error) =>
    error instanceof ClientError ? error.response.errors?.[0]?.extensions['code'] : undefined,
};

const apollo: HttpClient = {
  name: '@apollo/client',
  query: async (url, token, query) => {
    const client = new ApolloClient({
      link: new HttpLink({ uri: url, headers: bearer(token) }),
      cache: new InMemoryCache(),
    });
    const { data } = await client.query({ query: gql(query) });
    client.stop();
    return data;
  },
  codeOf: (error) =>
    error instanceof CombinedGraphQLErrors ? error.errors[0]?.extensions?.['code'] : undefined,
};

const urql: HttpClient = {
  name: 'urql',
  query: async (url, token, query) => {
    const client = new Client({
      url,
      exchanges: [fetchExchange],
      fetchOptions: { headers: bearer(token) },
      preferGetMethod: false,
    });
    const { data, error } = await client.query<unknown>(query, {}).toPromise();
    if (error !== undefined) throw error;
    return data;
  },
  codeOf: (error) =>
    error instanceof CombinedError ? error.graphQLErrors[0]?.extensions['code'] : undefined,
};

type GraphqlAnswer = { data?: unknown; errors?: { extensions: { code: string } }[] };

/** A response with errors, as a user of curl would handle it. */
class CurlErrors extends Error {
  readonly answer: GraphqlAnswer;
  constructor(answer: GraphqlAnswer) {
    super('curl was answered with errors');
    this.answer = answer;
  }
}

const curl: HttpClient = {
  name: 'curl',
  query: async (url, token, query) => {
    const { stdout } = await promisify(execFile)('curl', [
      '--silent',
      '--show-error',
      '--header',
      `Authorization: Bearer ${token}`,
      '--header',
      'Content-Type: application/json',
      '--data',
      JSON.stringify({ query }),
      url,
    ]);
    const answer = JSON.parse(stdout) as GraphqlAnswer;
    if (answer.errors !== undefined) throw new CurlErrors(answer);
    return answer.data;
  },
  codeOf: (error) => (error instanceof CurlErrors ? error.answer.errors?.[0]?.extensions.code : undefined),
};

const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;

/** Those installed on this machine. */
export const HTTP_CLIENTS: readonly HttpClient[] = [graphqlRequest, apollo, urql, ...(hasCurl ? [curl] : [])];
