import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { parseManifest } from '@tollgate/contracts/documents-manifest';
import { resultOf } from '../api/client.ts';
import type { Body, Result } from '../api/client.ts';
import { addYes, newGroup } from '../commands.ts';
import { confirm } from '../confirm.ts';
import { EXIT, Failure, usageFault } from '../failures.ts';
import { readText } from '../input.ts';
import { tableLines } from '../output.ts';
import type { Open } from '../session.ts';
import * as values from '../values.ts';

type ApiVersion = NonNullable<Body<'registerTrustedDocuments'>['api_version']>;

const COLUMNS = ['api_version', 'name', 'document_id', 'sha256'] as const;

export function documentsGroup(open: Open): Command {
  const group = newGroup('documents', 'Limit applications to documents that are registered');
  addList(group, open);
  addRegister(group, open);
  addLimit(group, open);
  addRemove(group, open);
  return group;
}

function addList(group: Command, open: Open): void {
  group
    .command('list')
    .description("List an application's documents, and whether it is limited to them")
    .argument('<application_id>', 'ID', values.id)
    .action(async (application_id: number) => {
      const session = open();
      const params = { path: { application_id } };
      const answer = await resultOf(
        session.api.GET('/private/applications/{application_id}/trusted-documents', { params }),
      );
      await session.show(answer, () => [limitLine(answer), ...tableLines(COLUMNS, answer.documents)]);
    });
}

type Register = { file: string; apiVersion: ApiVersion; dryRun?: boolean };

function addRegister(group: Command, open: Open): void {
  group
    .command('register')
    .description('Register the documents of a manifest, and report those that are new. None is removed')
    .argument('<application_id>', 'ID', values.id)
    .requiredOption('-f, --file <file>', 'manifest of Apollo or Relay; - for standard input')
    .addOption(apiVersionOption())
    .option('--dry-run', 'only report; exits with 4 if any is new, or an id would change')
    .action(async (application_id: number, { file, apiVersion, dryRun = false }: Register) => {
      const documents = await documentsIn(file);
      const session = open();
      const answer = await resultOf(
        session.api.POST('/private/applications/{application_id}/trusted-documents', {
          params: { path: { application_id } },
          body: { api_version: apiVersion, documents, dry_run: dryRun },
        }),
      );
      await session.show(answer, () => reportLines(answer));
      if (dryRun && answer.new_documents.length > 0)
        throw new Failure(EXIT.differences, 'The file has documents that are not registered.');
      if (dryRun && answer.changed_ids.length > 0)
        throw new Failure(EXIT.differences, 'The file has other ids than those that are registered.');
    });
}

function addLimit(group: Command, open: Open): void {
  group
    .command('limit')
    .description('Limit an application to its documents, or end the limit')
    .argument('<application_id>', 'ID', values.id)
    .addArgument(new Argument('<on|off>', 'whether it is limited').choices(['on', 'off']))
    .action(async (application_id: number, state: 'on' | 'off') => {
      const session = open();
      const answer = await resultOf(
        session.api.PUT('/private/applications/{application_id}/trusted-documents', {
          params: { path: { application_id } },
          body: { enforced: state === 'on' },
        }),
      );
      await session.show(answer, () => [limitLine(answer)]);
    });
}

function addRemove(group: Command, open: Open): void {
  const command = group
    .command('remove')
    .description('Remove a document of an application')
    .argument('<application_id>', 'ID', values.id)
    .argument('<sha256>', 'of its text, as listed')
    .addOption(apiVersionOption());
  type Options = { apiVersion: ApiVersion; yes?: boolean };
  addYes(command).action(async (application_id: number, sha256: string, options: Options) => {
    const session = open();
    await confirm(`Remove document ${sha256} of application ${String(application_id)}?`, options);
    const params = { path: { application_id, sha256 }, query: { api_version: options.apiVersion } };
    await resultOf(
      session.api.DELETE('/private/applications/{application_id}/trusted-documents/{sha256}', { params }),
    );
    await session.show(undefined, () => [`Removed document ${sha256}.`]);
  });
}

function apiVersionOption(): Option {
  return new Option('--api-version <version>', 'version of the data API').choices(['v1', 'v2']).default('v2');
}

/** @throws {Failure} usage if the file isn't a manifest */
async function documentsIn(file: string): Promise<{ document_id: string; text: string }[]> {
  const text = await readText(file);
  try {
    return [...parseManifest(text)].map(([document_id, body]) => ({ document_id, text: body }));
  } catch {
    throw usageFault(`${file} is not a manifest of Apollo or Relay.`);
  }
}

function limitLine({ enforced, documents }: Result<'listTrustedDocuments'>): string {
  const count = String(documents.length);
  return enforced ? `Limited to ${count} document(s).` : `Not limited; ${count} document(s) are registered.`;
}

function reportLines(report: Result<'registerTrustedDocuments'>): string[] {
  const { new_documents, known_documents, changed_ids, dry_run } = report;
  const what = `${String(new_documents.length)} new, ${String(known_documents)} known${dry_run ? ' (dry run)' : ''}`;
  return [
    `${what}.`,
    ...(new_documents.length > 0 ? tableLines(COLUMNS, new_documents) : []),
    ...changed_ids.map(
      ({ sha256, document_id, former_document_id }) =>
        `ID of ${sha256}: ${document_id ?? 'none'}, before ${former_document_id ?? 'none'}.`,
    ),
  ];
}
