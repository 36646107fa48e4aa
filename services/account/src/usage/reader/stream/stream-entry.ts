import { USAGE_BATCH_FIELD } from '@tollgate/contracts/usage-stream';

/** One entry of a usage stream as Redis gives it: names and values of its fields in turn. */
export type StreamEntry = { stream: string; id: string; fields: string[] };

/** The JSON of an entry's batch; undefined where the entry has no such field. */
export function batchField({ fields }: Pick<StreamEntry, 'fields'>): string | undefined {
  const index = fields.findIndex((field, position) => position % 2 === 0 && field === USAGE_BATCH_FIELD);
  return index === -1 ? undefined : fields[index + 1];
}
