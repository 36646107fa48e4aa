import {
  accountFile,
  activity,
  applicationBudgets,
  applications,
  connections,
  mails,
  passkeys,
  sessions,
  ssoIdentities,
  tokens,
  trustedDocuments,
} from './identity-files.ts';
import {
  alertSettings,
  alerts,
  budgetAlerts,
  creditMovements,
  credits,
  deliveries,
  invoices,
  periods,
  purchases,
  refusedCalls,
  subscriptions,
  topUps,
  topUpSettings,
  usage,
  usageByOperation,
  webhooks,
} from './billing-files.ts';
import { entriesOfTable, entryOfRecord } from './export-file.ts';
import type { ExportRecord, ExportTable, ZipEntry } from './export-file.ts';
import type { Source } from './source.ts';
import { provisioningFile, teamFile, teamInvitations, teamMembers } from './team-files.ts';

/** In the order of the README. A file that fails for some accounts comes before the long ones. */
const CONTENTS: readonly (ExportTable | ExportRecord)[] = [
  accountFile,
  passkeys,
  sessions,
  mails,
  ssoIdentities,
  applications,
  connections,
  applicationBudgets,
  trustedDocuments,
  tokens,
  teamFile,
  teamMembers,
  teamInvitations,
  provisioningFile,
  subscriptions,
  periods,
  credits,
  creditMovements,
  purchases,
  invoices,
  topUpSettings,
  topUps,
  alertSettings,
  alerts,
  budgetAlerts,
  webhooks,
  deliveries,
  activity,
  refusedCalls,
  usageByOperation,
  usage,
];

/** Files are read when they are written, one after another. */
export function exportEntries(source: Source, { productName }: { productName: string }): ZipEntry[] {
  const files = CONTENTS.flatMap((file) =>
    'columns' in file ? entriesOfTable(file, source) : [entryOfRecord(file, source)],
  );
  return [{ name: 'README.txt', chunks: readme(source, productName) }, ...files];
}

// eslint-disable-next-line @typescript-eslint/require-await -- the type of all files
async function* readme({ account_id, now }: Source, productName: string): AsyncGenerator<string> {
  const files = CONTENTS.map(({ description, ...file }) => {
    const formats = 'columns' in file ? '.json and .csv' : '.json';
    return `${file.name} (${formats})\n    ${description}\n`;
  });
  yield [
    `Data of account ${String(account_id)} at ${productName}, as of ${now.toISOString()}.\n`,
    'All files show the same moment. Times are in UTC (ISO 8601). Passwords, secrets and tokens are not included.',
    'JSON files of lists have one record in each line. In CSV files, text that a spreadsheet would take for a formula starts with an apostrophe.\n',
    ...files,
  ].join('\n');
}
