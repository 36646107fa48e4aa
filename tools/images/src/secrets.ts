import { join } from 'node:path';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { MASTER_FILE, SECRETS_DIR } from './places.ts';
import { readJson, writeFileAtomically } from './files.ts';
import { secretFiles } from './secret-files.ts';

// Runs first in `docker compose up`. Secrets stay because the databases' contents belong to them.
// The files are written every time, which repairs a start that was interrupted.
const known = readJson(MASTER_FILE);
const secrets = known === undefined ? newSampleSecrets() : (known as SampleSecrets);
if (known === undefined) writeFileAtomically(MASTER_FILE, JSON.stringify(secrets), 0o400);
for (const [reader, files] of Object.entries(secretFiles(secrets))) {
  for (const [name, content] of Object.entries(files)) {
    // Other users of the reader's container may read them, whichever its image runs as; no other container can.
    writeFileAtomically(join(SECRETS_DIR, reader, name), content, 0o444);
  }
}
process.stdout.write(known === undefined ? 'secrets made\n' : 'secrets of an earlier start kept\n');
