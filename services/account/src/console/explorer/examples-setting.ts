import { z } from 'zod';
import { jsonValue } from '../../http/input/json-value.ts';

const EXAMPLES_MAX = 20;
const QUERY_MAX_LENGTH = 4_000;

const example = z.strictObject({
  name: z.string().trim().min(1).max(60),
  query: z.string().trim().min(1).max(QUERY_MAX_LENGTH),
  variables: z.record(z.string(), jsonValue).optional(),
});

/** An operation of the data API that the explorer and the code samples begin with. */
export type Example = z.output<typeof example>;

export const exampleSchema = example;

const EXPECTED =
  'must be a JSON list of at most 20 examples, each as {"name": "A country", "query": "{ … }"}, with "variables" if it has some';

/** Value of EXPLORER_EXAMPLES. */
export const explorerExamples = z
  .string()
  .transform((value, context): Example[] => {
    const parsed = z.array(example).max(EXAMPLES_MAX).safeParse(jsonOf(value));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: 'custom', message: EXPECTED });
    return z.NEVER;
  })
  .meta({ values: 'a JSON list of `name`, `query` and `variables`' });

function jsonOf(value: string): unknown {
  try {
    return value.trim() === '' ? [] : JSON.parse(value);
  } catch {
    return undefined;
  }
}
