/** For how many days in a row DNS may lack a domain's record; then it has lapsed, and lets no one in. */
export const LAPSED_AFTER_DAYS = 30;

/** Whether addresses of a row `domain` of team_domains count as the team's: SQL. */
export const IS_OPEN_DOMAIN = `domain.proven_at IS NOT NULL
  AND coalesce(domain.missing_since > now() - ${String(LAPSED_AFTER_DAYS)} * interval '1 day', true)`;

/** The domain of an address, as team_domains has it: SQL. */
export const domainOf = (email: string) => `lower(substring(${email} FROM '[^@]*$'))`;
