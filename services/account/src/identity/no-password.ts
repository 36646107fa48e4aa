/** Stored in place of a hash while no password is chosen: it matches none. */
export const NO_PASSWORD = 'none';
