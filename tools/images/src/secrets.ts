import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { completeSecrets, newSampleSecrets } from '@tollgate/sample/secrets';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { MASTER_FILE, SECRETS_DIR } from './places.ts';
import { readJson, writeFileAtomically } from './files.ts';
import { secretFiles } from './secret-files.ts';

/**
 * The first thing that runs in `docker compose up`: makes all secrets once, and gives each container the
 * files that it may see. What was made stays, because the databases' contents belong to it, and what an
 * earlier version didn't make yet is added; the files are
 * written anew each time, so that a start that was cut short or a new version of this program repairs them.
 */
const known = readJson(MASTER_FILE);
const secrets = known === undefined ? newSampleSecrets() : completeSecrets(known as SampleSecrets);
if (!isDeepStrictEqual(secrets, known)) writeFileAtomically(MASTER_FILE, JSON.stringify(secrets), 0o400);
for (const [reader, files] of Object.entries(secretFiles(secrets))) {
  for (const [name, content] of Object.entries(files)) {
    // Other users of the reader's container may read them, whichever its image runs as; no other container can.
    writeFileAtomically(join(SECRETS_DIR, reader, name), content, 0o444);
  }
}
process.stdout.write(known === undefined ? 'secrets made\n' : 'secrets of an earlier start kept\n');
