import { Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { Command } from 'commander';
import { newGroup } from './commands.ts';
import { accountsGroup } from './groups/accounts.ts';
import { applicationsGroup } from './groups/applications.ts';
import { auditGroup } from './groups/audit.ts';
import { callsGroup } from './groups/calls.ts';
import { periodsGroup } from './groups/periods.ts';
import { plansGroup } from './groups/plans.ts';
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
  const program = newGroup('tollgate', 'what operators do over the private API of the account service')
    .version(manifest.version, '--version', 'print the version')
    .option('--url <url>', 'base URL of account’s private listener; else TOLLGATE_URL')
    .option(
      '--credential-file <file>',
      'file with id:secret; else TOLLGATE_CREDENTIAL or TOLLGATE_CREDENTIAL_FILE',
    )
    .option('--json', 'print exactly what the API answers')
    .addOption(
      new Option('--timeout <seconds>', 'how long to wait for each answer')
        .argParser(values.seconds)
        .default(30),
    );
  const open = () => openSession(program.opts<GlobalOptions>(), surroundings);
  for (const group of [
    productsGroup,
    plansGroup,
    accountsGroup,
    subscriptionsGroup,
    periodsGroup,
    teamsGroup,
    applicationsGroup,
    tokensGroup,
    auditGroup,
    callsGroup,
    usageGroup,
    seedCommand,
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
    .description('shows what there is, or what a command takes')
    .argument('[command...]', 'a group, or a group and its command')
    .action((path: string[]) => {
      const command = path.reduce<Command>((within, name) => {
        const found = within.commands.find((each) => each.name() === name);
        if (found === undefined)
          throw usageFault(`There is no command ${path.join(' ')}; see tollgate help.`);
        return found;
      }, program);
      command.outputHelp();
    });
}
