/** Why a process doesn't start, or isn't ready. Operators read the message in the log and in `/health/ready`. */
export class Refusal extends Error {
  override name = 'Refusal';
}
