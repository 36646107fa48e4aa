import { z } from 'zod';

const listSize = z.strictObject({
  assumedSize: z.int().min(0).optional(),
  slicingArguments: z.array(z.string()).optional(),
  sizedFields: z.array(z.string()).optional(),
  requireOneSlicingArgument: z.boolean().optional(),
});

/** The file of weights: by schema coordinates, such as `User`, `Query.users`, `Query.users(filter:)`, `@a(b:)`. */
const costsFile = z.strictObject({
  weights: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  listSizes: z.record(z.string(), listSize).default({}),
});

export type StatedSize = z.output<typeof listSize>;

export type StatedCosts = {
  weights: ReadonlyMap<string, string>;
  listSizes: ReadonlyMap<string, StatedSize>;
};

export const NO_COSTS: StatedCosts = { weights: new Map(), listSizes: new Map() };

/** @throws {Error} with what is wrong with the text */
export function parseCostsFile(text: string): StatedCosts {
  const parsed = costsFile.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const { weights, listSizes } = parsed.data;
  return {
    weights: new Map(Object.entries(weights).map(([coordinate, weight]) => [coordinate, String(weight)])),
    listSizes: new Map(Object.entries(listSizes)),
  };
}
