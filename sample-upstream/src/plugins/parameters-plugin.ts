import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * 415 for a body of another type, which Yoga alone ignores. 400 for `variables` or `extensions` that aren't
 * JSON: not a well-formed GraphQL-over-HTTP request, but Yoga alone responds with a 500.
 */
export function refuseMalformedParameters(): Plugin {
  return {
    onRequestParse: ({ requestParser, setRequestParser }) => {
      if (requestParser === undefined) {
        setRequestParser(() => {
          throw new GraphQLError('Expected the body as application/json or application/graphql+json.', {
            extensions: { http: { status: 415 }, code: 'UNSUPPORTED_MEDIA_TYPE' },
          });
        });
        return;
      }
      setRequestParser(async (request) => {
        try {
          return await requestParser(request);
        } catch (error) {
          if (!(error instanceof SyntaxError)) throw error;
          throw new GraphQLError('Expected "variables" and "extensions" to be JSON.', {
            extensions: { http: { status: 400 }, code: 'BAD_REQUEST' },
          });
        }
      });
    },
  };
}
