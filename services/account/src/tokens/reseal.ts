import type { Transact } from '../database/query.ts';
import { seal, unseal } from './sealing.ts';
import type { SealingKey } from './sealing.ts';
import type { SealedTokenRow } from './store.ts';

/** What came of it; `failed` tokens can't be opened, and keep their old seal. */
export type Resealed = { resealed: number; failed: number; remaining: number };

const BATCH = 200;

type Row = Pick<
  SealedTokenRow,
  'token_id' | 'application_id' | 'token_hash' | 'sealing_key_id' | 'sealed_nonce' | 'sealed_token'
>;

/**
 * Seals every token that isn't under the first key anew. Each batch is a transaction of its own, which leaves out
 * what others have locked: it can be run beside the service, several at once, and be cut off at any moment.
 */
export async function resealTokens(
  transact: Transact,
  keys: readonly SealingKey[],
  onFailed: (tokenId: number, error: unknown) => void,
): Promise<Resealed> {
  const sealingKeyId = keys[0]?.id ?? '';
  let resealed = 0;
  let failed = 0;
  let after = 0;
  for (;;) {
    const rows = await transact(async (query) => {
      const batch = await query<Row>(
        `SELECT token_id, application_id, token_hash, sealing_key_id, sealed_nonce, sealed_token
         FROM access_tokens WHERE sealing_key_id <> :sealingKeyId AND token_id > :after
         ORDER BY token_id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED`,
        { sealingKeyId, after, limit: BATCH },
      );
      for (const row of batch) {
        const sealed = sealedAnew(row);
        if (sealed === undefined) failed += 1;
        else {
          await query(
            `UPDATE access_tokens SET sealing_key_id = :sealing_key_id, sealed_nonce = :sealed_nonce,
               sealed_token = :sealed_token WHERE token_id = :token_id`,
            { ...sealed, token_id: row.token_id },
          );
        }
      }
      return batch;
    });
    resealed += rows.length;
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.token_id;
  }
  return { resealed: resealed - failed, failed, remaining: await countOthers(transact, sealingKeyId) };

  function sealedAnew(row: Row) {
    try {
      return seal(unseal(row, row, keys), row, keys);
    } catch (error) {
      onFailed(row.token_id, error);
      return undefined;
    }
  }
}

async function countOthers(transact: Transact, sealingKeyId: string): Promise<number> {
  const rows = await transact((query) =>
    query<{ others: number }>(
      'SELECT count(*) AS others FROM access_tokens WHERE sealing_key_id <> :sealingKeyId',
      { sealingKeyId },
    ),
  );
  return rows[0]?.others ?? 0;
}
