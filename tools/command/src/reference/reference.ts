import type { Argument, Command, Option } from 'commander';

/** Every command with its arguments and options, as Markdown, for docs/command.md. Each has a heading, to link to. */
export function reference(program: Command): string {
  const groups = program.commands.map((group) => {
    const commands = commandsOf(group).map((command) => {
      const lines = ['```text', ...commandLines(command, group), '```'].join('\n');
      // A group that is a command itself has its heading already.
      return command === group ? lines : `#### ${pathOf(command, group)}\n\n${lines}`;
    });
    return [`### ${group.name()}`, sentence(group.description()), ...commands].join('\n\n');
  });
  const everywhere = ['```text', ...program.options.map(optionLine), '```'].join('\n');
  return `With every command:\n\n${everywhere}\n\n${groups.join('\n\n')}\n`;
}

/** A group's commands and those of the groups in it; itself where it has none. */
function commandsOf(group: Command): readonly Command[] {
  return group.commands.length === 0 ? [group] : group.commands.flatMap(commandsOf);
}

function commandLines(command: Command, group: Command): string[] {
  const path = pathOf(command, group);
  const given = command.registeredArguments.map((argument) => ` ${argumentText(argument)}`).join('');
  // A group that is a command itself has its description above.
  const said = command === group ? [] : [`    ${command.description()}`];
  return [`tollgate ${path}${given}`, ...said, ...command.options.map(optionLine)];
}

function pathOf(command: Command, group: Command): string {
  const { parent } = command;
  return command === group || parent === null ? command.name() : `${pathOf(parent, group)} ${command.name()}`;
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function optionLine({ flags, description, mandatory, defaultValue, argChoices }: Option): string {
  const notes = [
    ...(mandatory && defaultValue === undefined ? ['required'] : []),
    ...(argChoices === undefined ? [] : [argChoices.join(' or ')]),
    ...(defaultValue === undefined ? [] : [`default ${String(defaultValue)}`]),
  ];
  return `  ${flags.padEnd(32)} ${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
