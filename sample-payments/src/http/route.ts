import type { z } from 'zod';
import type { Double } from '../double.ts';
import { invalid } from './failure.ts';

/** `id` is the path's, or ''. `input`: the form or the query. */
export type Call = { double: Double; id: string; input: unknown };

export type Route = { method: 'GET' | 'POST' | 'DELETE'; path: RegExp; handle: (call: Call) => object };

/** `template`: as in Stripe's documents, such as `/v1/customers/{id}`. */
export function route(template: `${Route['method']} /${string}`, handle: Route['handle']): Route {
  const [method, path] = template.split(' ') as [Route['method'], string];
  const pattern = path.replaceAll('.', '\\.').replace('{id}', '([^/]+)');
  return { method, path: new RegExp(`^${pattern}$`), handle };
}

/** @throws {Failure} naming the first parameter that is wrong, as Stripe does */
export function read<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const [first = '', ...rest] = issue?.path.map(String) ?? [];
  const param = first + rest.map((part) => `[${part}]`).join('');
  const isMissing = issue?.code === 'invalid_type' && issue.message.includes('undefined');
  if (isMissing) throw invalid(`Missing required param: ${param}.`, { code: 'parameter_missing', param });
  throw invalid(`Invalid ${param}: ${issue?.message ?? ''}`, { param });
}
