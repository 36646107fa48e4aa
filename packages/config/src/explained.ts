import { z } from 'zod';
import './settings.ts';

export type Settings = Readonly<Record<string, z.core.$ZodType>>;

export type Explained = {
  description?: string | undefined;
  values?: string | undefined;
  isSecret?: boolean | undefined;
  /** What applies if it isn't set; undefined if it must be. */
  fallback?: string | undefined;
};

/**
 * What the schema of a setting says about it. The innermost schema has the values, the outermost the default and the
 * description.
 */
export function explained(setting: z.core.$ZodType): Explained {
  const meta = z.globalRegistry.get(setting);
  const own: Explained = {
    ...(setting instanceof z.ZodEnum ? { values: setting.options.map(code).join(', ') } : {}),
    ...(setting instanceof z.ZodOptional ? { fallback: 'none' } : {}),
    ...(setting instanceof z.ZodDefault || setting instanceof z.ZodPrefault
      ? { fallback: defaultText(setting.def.defaultValue) }
      : {}),
    ...meta,
    ...(meta?.unset === undefined ? {} : { fallback: meta.unset }),
  };
  return { ...explainedInside(setting), ...own };
}

function explainedInside(setting: z.core.$ZodType): Explained {
  if (setting instanceof z.ZodOptional || setting instanceof z.ZodDefault || setting instanceof z.ZodPrefault)
    return explained(setting.def.innerType);
  return setting instanceof z.ZodPipe ? explained(setting.def.in) : {};
}

function defaultText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' || typeof value === 'boolean') return code(String(value));
  return Array.isArray(value) && value.length > 0 ? code(value.join(' ')) : 'none';
}

const code = (text: string | number) => `\`${String(text)}\``;
