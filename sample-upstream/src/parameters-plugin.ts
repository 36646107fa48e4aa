import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

/**
 * Answers 415 with a GraphQL error where the body is of a type that is not read: Yoga alone leaves the body out.
 * Answers 400 where `variables` or `extensions` of a URL or a form is not JSON: such a request is not a well-formed
 * GraphQL-over-HTTP request, whose answer is 4xx in either media type. Yoga alone takes it for a fault of its own.
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
