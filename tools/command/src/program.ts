import { Option } from 'commander';
import { VERSION } from '@tollgate/server/version';
import type { Command } from 'commander';
import { newGroup } from './commands.ts';
import { accountsGroup } from './groups/accounts.ts';
import { applicationsGroup } from './groups/applications.ts';
import { auditGroup } from './groups/audit.ts';
import { budgetsGroup } from './groups/budgets.ts';
import { callsGroup } from './groups/calls.ts';
import { creditsGroup } from './groups/credits.ts';
import { documentsGroup } from './groups/documents.ts';
import { doctorCommand } from './groups/doctor.ts';
import { operatorsGroup } from './groups/operators.ts';
import { packsGroup } from './groups/packs.ts';
import { paymentsGroup } from './groups/payments.ts';
import { periodsGroup } from './groups/periods.ts';
import { plansGroup } from './groups/plans.ts';
import { applyCommand, exportCommand } from './groups/plans-as-code.ts';
import { pricesGroup } from './groups/prices.ts';
import { productsGroup } from './groups/products.ts';
import { seedCommand } from './groups/seed.ts';
import { subscriptionsGroup } from './groups/subscriptions.ts';
import { teamsGroup } from './groups/teams.ts';
import { tokensGroup } from './groups/tokens.ts';
import { usageGroup } from './groups/usage.ts';
import { usageFault } from './failures.ts';
import { openSession } from './session.ts';
import type { GlobalOptions, Surroundings } from './session.ts';
import * as values from './values.ts';

/** Everything that `tollgate` can do. */
export function createProgram(surroundings: Surroundings = {}): Command {
  const program = newGroup('tollgate', 'Operate Tollgate through the account service’s private API')
    .version(VERSION, '--version', 'print the version')
    .option('--url <url>', 'base URL of account’s private listener (default: TOLLGATE_URL)')
    .option(
      '--credential-file <file>',
      'file with id:secret (default: TOLLGATE_CREDENTIAL or TOLLGATE_CREDENTIAL_FILE)',
    )
    .option('--json', 'print the API response as JSON')
    .option('--reason <text>', 'why something is changed, for the audit log; 3 to 500 characters')
    .addOption(
      new Option('--timeout <seconds>', 'timeout for each request').argParser(values.seconds).default(30),
    );
  const open = () => openSession(program.opts<GlobalOptions>(), surroundings);
  for (const group of [
    productsGroup,
    plansGroup,
    pricesGroup,
    packsGroup,
    applyCommand,
    exportCommand,
    accountsGroup,
    subscriptionsGroup,
    creditsGroup,
    paymentsGroup,
    periodsGroup,
    teamsGroup,
    budgetsGroup,
    applicationsGroup,
    documentsGroup,
    tokensGroup,
    auditGroup,
    callsGroup,
    usageGroup,
    doctorCommand,
    seedCommand,
    operatorsGroup,
  ]) {
    program.addCommand(group(open));
  }
  addHelp(program);
  return program;
}

/** `help`, of everything, of a group or of one command: what `--help` behind it shows. */
function addHelp(program: Command): void {
  program
    .command('help')
    .description('Show help for a group or command')
    .argument('[command...]', 'group, or group and command')
    .action((path: string[]) => {
      const command = path.reduce<Command>((within, name) => {
        const found = within.commands.find((each) => each.name() === name);
        if (found === undefined) throw usageFault(`Unknown command: ${path.join(' ')}; see tollgate help.`);
        return found;
      }, program);
      command.outputHelp();
    });
}
