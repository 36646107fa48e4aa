import type { Transact } from '../database/query.ts';
import { seal, unseal } from './sealing.ts';
import type { Sealed, SealingKey } from './sealing.ts';

/** Secrets that `failed` cannot be opened and keep their seal. */
export type Resealed = { resealed: number; failed: number; remaining: number };

/** The names are constants, never input. */
export type SealedTable<Owner> = {
  table: string;
  id: string;
  sealed: string;
  /** The columns that identify the owner. */
  ownerColumns: readonly (keyof Owner & string)[];
  ownerOf: (row: Owner) => string;
};

const BATCH = 200;

/** Each batch is a transaction that skips locked rows: safe beside the service, concurrently, and to interrupt. */
export async function resealTable<Owner>(
  transact: Transact,
  keys: readonly SealingKey[],
  { table, id, sealed, ownerColumns, ownerOf }: SealedTable<Owner>,
  onFailed: (id: number, error: unknown) => void,
): Promise<Resealed> {
  type Row = Sealed & Owner & { row_id: number };
  const sealingKeyId = keys[0]?.id ?? '';
  let resealed = 0;
  let failed = 0;
  let after = 0;
  for (;;) {
    const rows = await transact(async (query) => {
      const batch = await query<Row>(
        `SELECT ${id} AS row_id, sealing_key_id, sealed_nonce, ${sealed} AS sealed, ${ownerColumns.join(', ')}
         FROM ${table} WHERE sealing_key_id <> :sealingKeyId AND ${id} > :after
         ORDER BY ${id} LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED`,
        { sealingKeyId, after, limit: BATCH },
      );
      for (const row of batch) {
        const anew = sealedAnew(row);
        if (anew === undefined) failed += 1;
        else {
          await query(
            `UPDATE ${table} SET sealing_key_id = :sealing_key_id, sealed_nonce = :sealed_nonce,
               ${sealed} = :sealed WHERE ${id} = :row_id`,
            { ...anew, row_id: row.row_id },
          );
        }
      }
      return batch;
    });
    resealed += rows.length;
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.row_id;
  }
  return { resealed: resealed - failed, failed, remaining: await countOthers(transact, table, sealingKeyId) };

  function sealedAnew(row: Row): Sealed | undefined {
    try {
      const owner = ownerOf(row);
      return seal(unseal(row, owner, keys), owner, keys);
    } catch (error) {
      onFailed(row.row_id, error);
      return undefined;
    }
  }
}

async function countOthers(transact: Transact, table: string, sealingKeyId: string): Promise<number> {
  const rows = await transact((query) =>
    query<{ others: number }>(
      `SELECT count(*) AS others FROM ${table} WHERE sealing_key_id <> :sealingKeyId`,
      {
        sealingKeyId,
      },
    ),
  );
  return rows[0]?.others ?? 0;
}
