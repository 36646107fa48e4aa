/** What of an advisory is looked at, as `pnpm audit --json` prints it. */
export type Advisory = {
  github_advisory_id: string;
  module_name: string;
  severity: string;
  title: string;
  url: string;
  findings: { version: string; paths: string[] }[];
};

/** An advisory that may stay for a while (accepted.json), and why it does no harm here. */
export type Accepted = { advisory: string; reason: string };

const SEVERE = new Set(['high', 'critical']);

/** What to print of each severe advisory, and what makes the audit fail. */
export function judge(
  advisories: readonly Advisory[],
  accepted: readonly Accepted[],
): { known: string[]; faults: string[] } {
  const severe = advisories.filter(({ severity }) => SEVERE.has(severity));
  const reasonOf = (id: string) => accepted.find(({ advisory }) => advisory === id)?.reason.trim();
  const known: string[] = [];
  const faults: string[] = [];
  for (const { github_advisory_id: id, module_name, severity, title, url, findings } of severe) {
    const [first] = findings;
    const where = `${module_name}@${first?.version ?? '?'} by ${first?.paths.join(', ') ?? '?'}`;
    const reason = reasonOf(id);
    if (reason === undefined || reason === '') faults.push(`${id} (${severity}): ${title}; ${where}; ${url}`);
    else known.push(`${id} (${severity}), accepted: ${reason}`);
  }
  const found = new Set(severe.map(({ github_advisory_id }) => github_advisory_id));
  for (const { advisory } of accepted) {
    if (!found.has(advisory))
      faults.push(`${advisory} is accepted, but nothing installed has it any more: remove the entry`);
  }
  return { known, faults };
}
