import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Database } from '@tollgate/testbed/database';

/** A database without a schema, on the server of `besideUrl`. */
export async function emptyDatabase(database: Knex, besideUrl: string, encoding = 'UTF8'): Promise<Database> {
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await database.raw(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`);
  const url = new URL(besideUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      await database.raw(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}
