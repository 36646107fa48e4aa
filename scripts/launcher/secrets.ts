import { existsSync } from 'node:fs';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { readJson, writePrivateFile } from './state.ts';
import type { StatePaths } from './state.ts';

/**
 * Created at the first start and kept with their data.
 * @throws {Error} if there is data but they can't be read, because new secrets wouldn't fit it
 */
export function loadSecrets({ secrets: file, postgresData }: StatePaths): SampleSecrets {
  const known = readJson(file);
  if (known === undefined && (existsSync(file) || existsSync(postgresData))) {
    throw new Error(
      `${file} is missing or damaged, and the data can't be used without it. To delete the data and start again, run npm run reset.`,
    );
  }
  // An older version's file has no secrets for payments.
  const secrets = { ...newSampleSecrets(), ...(known as Partial<SampleSecrets> | undefined) };
  writePrivateFile(file, secrets);
  return secrets;
}
