import { existsSync } from 'node:fs';
import { newPaymentSecrets, newSampleSecrets } from '@tollgate/sample/secrets';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { readJson, writePrivateFile } from './state.ts';
import type { StatePaths } from './state.ts';

/**
 * Created at the first start and kept with their data.
 * @throws {Error} if there is data but they can't be read, because new secrets wouldn't fit it
 */
export function loadSecrets({ secrets: file, postgresData }: StatePaths): SampleSecrets {
  const known = readJson(file);
  if (known !== undefined) {
    const kept = known as Omit<SampleSecrets, 'payments'> & Partial<SampleSecrets>;
    if (kept.payments !== undefined) return { ...kept, payments: kept.payments };
    // Made by a version that sold nothing.
    const extended = { ...kept, payments: newPaymentSecrets() };
    writePrivateFile(file, extended);
    return extended;
  }
  if (existsSync(file) || existsSync(postgresData)) {
    throw new Error(
      `${file} is missing or damaged, and the data can't be used without it. To delete the data and start again, run npm run reset.`,
    );
  }
  const made = newSampleSecrets();
  writePrivateFile(file, made);
  return made;
}
