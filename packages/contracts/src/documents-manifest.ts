import { z } from 'zod';

/** Texts of documents by their ids. */
export type Manifest = ReadonlyMap<string, string>;

/** What `@apollo/generate-persisted-query-manifest` writes. */
const apolloSchema = z
  .object({
    format: z.literal('apollo-persisted-query-manifest'),
    version: z.literal(1),
    operations: z.array(z.object({ id: z.string().min(1), body: z.string().min(1) })),
  })
  .transform(({ operations }) => new Map(operations.map(({ id, body }) => [id, body])));

/** What Relay's compiler writes (`persistConfig.file`). */
const relaySchema = z
  .record(z.string().min(1), z.string().min(1))
  .transform((texts) => new Map(Object.entries(texts)));

const manifestSchema = z.union([apolloSchema, relaySchema]);

/** @throws if the text is no manifest of Apollo or Relay */
export function parseManifest(text: string): Manifest {
  return manifestSchema.parse(JSON.parse(text));
}
