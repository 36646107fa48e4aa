import { expect } from '@jest/globals';
import { expectAccessible, untilLoaded } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { makeApplication } from './journey.ts';
import type { Journey } from './journey.ts';

/** The documents that an application is limited to. */
export function trustedDocumentJourneys(journey: Journey): void {
  test('documents of an application are registered from a file, enforced and removed', async () => {
    const page = await journey.signedIn();
    await makeApplication(page, 'Limited');
    const documents = page.getByRole('region', { name: 'Trusted documents', exact: true });
    await documents.getByText('Not limited: 0 documents are registered.').waitFor();
    const manifest = JSON.stringify({
      countries: 'query Countries { countries { name } }',
      x: 'query X { a }',
    });
    const file = documents.getByLabel('Register documents from a file');
    await file.setInputFiles({
      name: 'manifest.json',
      mimeType: 'application/json',
      buffer: Buffer.from(manifest),
    });
    await documents.getByText('2 new, 0 known before.').waitFor();
    await documents.getByRole('rowheader', { name: 'Countries' }).waitFor();
    await documents.getByRole('button', { name: 'Limit to these documents' }).click();
    await documents.getByText('Limited: 2 documents are registered.').waitFor();
    await expectAccessible(page);
    await documents.getByRole('button', { name: 'Remove X' }).click();
    await documents.getByText('Limited: 1 document is registered.').waitFor();
    const empty = { name: 'empty.graphql', mimeType: 'text/plain', buffer: Buffer.from('') };
    await file.setInputFiles(empty);
    await documents.getByRole('alert').waitFor();
    await expectAccessible(page);
    await page.reload();
    await untilLoaded(page);
    await documents.getByRole('button', { name: 'End the limit' }).click();
    await documents.getByText('Not limited: 1 document is registered.').waitFor();
    expect(await documents.getByRole('row').count()).toBe(2);
  });
}
