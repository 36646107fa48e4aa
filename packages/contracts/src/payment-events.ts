/** account takes them, and the gateway passes them on: larger than requests of people. */
export const MAX_PAYMENT_EVENT_BYTES = 1_048_576;
