import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** All faults of a configuration, one per line and without any value. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${String(faults.length)} fault(s):\n${faults.map((f) => `  - ${f}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads settings by a zod object whose keys are the variables' names. `NAME_FILE` may name a file with the value, as
 * container platforms mount secrets. An empty variable counts as absent. @throws {ConfigError}
 */
export function readConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Readonly<Record<string, string | undefined>>,
): z.output<z.ZodObject<Shape>> {
  const faults = new Map<string, string>();
  const raw: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const setting = readSetting(name, env);
    if (setting.fault !== undefined) faults.set(name, setting.fault);
    else if (setting.value !== undefined) raw[name] = setting.value;
  }
  const parsed = schema.safeParse(raw);
  if (parsed.success && faults.size === 0) return parsed.data;
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0] ?? '');
    if (faults.has(name)) continue;
    faults.set(name, name in raw ? issue.message : missing(name, schema.shape[name]));
  }
  throw new ConfigError([...faults].map(([name, fault]) => `${name}: ${fault}`));
}

function missing(name: string, setting: z.core.$ZodType | undefined): string {
  const fault = `is not set (nor is ${name}_FILE)`;
  const description = setting && z.globalRegistry.get(setting)?.description;
  return description === undefined ? fault : `${fault}: ${description}`;
}

type Setting = { value?: string | undefined; fault?: string };

function readSetting(name: string, env: Readonly<Record<string, string | undefined>>): Setting {
  const value = env[name] === '' ? undefined : env[name];
  const file = env[`${name}_FILE`];
  if (file === undefined || file === '') return { value };
  if (value !== undefined) return { fault: `both ${name} and ${name}_FILE are set; keep one` };
  try {
    return { value: readFileSync(file, 'utf8').replace(/\r?\n$/, '') };
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    return { fault: `the file that ${name}_FILE names can't be read (${code})` };
  }
}
