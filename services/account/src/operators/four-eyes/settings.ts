import { z } from 'zod';

export const FOUR_EYES_MODES = ['auto', 'true', 'false'] as const;

/** When a second operator must confirm what one asks for. */
export type FourEyesSettings = {
  /** `auto`: as soon as there are two who could. */
  mode: (typeof FOUR_EYES_MODES)[number];
  /** Credentials that act alone all the same. */
  exempt: ReadonlySet<string>;
  /** Grants of more points need a second operator; undefined: none does. */
  creditPoints: number | undefined;
};

/** `FOUR_EYES_EXEMPT` */
export const exemptIds = z
  .string()
  .transform((value) => new Set(value.split(/[\s,]+/).filter((id) => id !== '')));

/** An exemption of a credential that isn't there is a misspelled id. */
export function checkExempt(
  settings: { OPERATOR_CREDENTIALS: { id: string }[]; FOUR_EYES_EXEMPT: ReadonlySet<string> },
  context: z.RefinementCtx,
): void {
  const ids = new Set(settings.OPERATOR_CREDENTIALS.map(({ id }) => id));
  const unknown = [...settings.FOUR_EYES_EXEMPT].filter((id) => !ids.has(id));
  if (unknown.length === 0) return;
  context.addIssue({
    code: 'custom',
    path: ['FOUR_EYES_EXEMPT'],
    message: `must only have ids of OPERATOR_CREDENTIALS, which has no ${unknown.join(', ')}`,
  });
}
