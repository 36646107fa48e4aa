/** A `problem` needs action; a `warning` will. `skipped` says why nothing was checked. */
type Status = 'ok' | 'warning' | 'problem' | 'skipped';

export type Finding = { check: string; status: Status; finding: string; action: string | null };

export const ok = (check: string, finding: string): Finding => ({
  check,
  status: 'ok',
  finding,
  action: null,
});

export const skipped = (check: string, finding: string): Finding => ({
  check,
  status: 'skipped',
  finding,
  action: null,
});

export const warning = (check: string, finding: string, action: string): Finding => ({
  check,
  status: 'warning',
  finding,
  action,
});

export const problem = (check: string, finding: string, action: string): Finding => ({
  check,
  status: 'problem',
  finding,
  action,
});

/** What is wrong, or that nothing is. */
export const orOk = (check: string, findings: readonly Finding[], fine: string): readonly Finding[] =>
  findings.length > 0 ? findings : [ok(check, fine)];
