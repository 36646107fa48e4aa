import type { ExplorerStorage } from '../../../api/explorer-storage.ts';
import type { Example } from '../../../api/examples.ts';

/** Every GraphQL API answers this. */
export const ANY_QUERY = '{\n  __typename\n}\n';

/** What GraphiQL's editor will begin with: the query of the last visit, else the first example. */
export function firstQuery(storage: ExplorerStorage, examples: readonly Example[]): string {
  return storage.getItem('graphiql:query') ?? examples[0]?.query ?? ANY_QUERY;
}
