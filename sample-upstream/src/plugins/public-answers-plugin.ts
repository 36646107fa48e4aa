import type { Plugin } from 'graphql-yoga';

/**
 * What an API says that faces the internet itself: anyone may cache the countries, and its host is reached by TLS only.
 * Behind a gateway that sells calls neither holds, so the gateway must not pass it on.
 */
export function publicAnswers(): Plugin {
  return {
    onResponse: ({ request, response }) => {
      response.headers.set('strict-transport-security', 'max-age=31536000; includeSubDomains');
      response.headers.set('origin-agent-cluster', '?1');
      const isDocument = response.headers.get('content-type')?.includes('json') === true;
      if (request.method === 'GET' && response.ok && isDocument) {
        response.headers.set('cache-control', 'public, max-age=60, s-maxage=600');
      }
    },
  };
}
