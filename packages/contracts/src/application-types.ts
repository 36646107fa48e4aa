/** Of usage and refused calls; the last two are hidden applications. */
export const APPLICATION_TYPES = ['automatic', 'manual', 'authorization', 'temporary', 'connection'] as const;
