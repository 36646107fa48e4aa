import type { SchemaCosts } from '../panels/costs.ts';
import { failureOf } from './failure.ts';
import { get } from './requests.ts';
import type { RequestOptions } from './requests.ts';

/**
 * What the parts of the schema cost, as the gateway knows it. Null if it has no costs.
 *
 * @throws {Error} that says why they can't be had
 */
export async function readCosts({ dataUrl, ...options }: RequestOptions): Promise<SchemaCosts | null> {
  const { result, report } = await get({ dataUrl: `${dataUrl}/costs`, ...options }).catch(
    (error: unknown) => {
      throw new Error(failureOf(error).message, { cause: error });
    },
  );
  if (report.status === 200) return result as SchemaCosts;
  if (report.refusal?.code === 'not_found') return null;
  throw new Error(report.refusal?.message ?? '');
}
