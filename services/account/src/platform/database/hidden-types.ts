/** The types of hidden applications, which hold the tokens that people get without an application of their own. */
export const HIDDEN_TYPES = "('temporary', 'connection')";
