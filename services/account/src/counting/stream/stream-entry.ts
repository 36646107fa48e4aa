import { USAGE_BATCH_FIELD } from '@tollgate/contracts/usage-stream';

/** `fields`: names and values in turn, as Redis returns them. */
export type StreamEntry = { stream: string; id: string; fields: string[] };

export function batchField({ fields }: Pick<StreamEntry, 'fields'>): string | undefined {
  const index = fields.findIndex((field, position) => position % 2 === 0 && field === USAGE_BATCH_FIELD);
  return index === -1 ? undefined : fields[index + 1];
}
