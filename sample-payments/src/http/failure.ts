type Details = { code?: string; param?: string; decline_code?: string; payment_intent?: object };

/** A request that Stripe refuses; sent as its error object. */
export class Failure extends Error {
  status: number;
  type: string;
  details: Details;

  constructor(status: number, type: string, message: string, details: Details = {}) {
    super(message);
    this.status = status;
    this.type = type;
    this.details = details;
  }

  get body(): { error: Record<string, unknown> } {
    return { error: { ...this.details, type: this.type, message: this.message } };
  }
}

export function invalid(message: string, details: Details = {}): Failure {
  return new Failure(400, 'invalid_request_error', message, details);
}

export function missing(kind: string, id: string, param = 'id'): Failure {
  return new Failure(404, 'invalid_request_error', `No such ${kind.replace('.', ' ')}: '${id}'`, {
    code: 'resource_missing',
    param,
  });
}

export function declined(
  codes: { code: string; decline_code: string },
  message: string,
  payment_intent?: object,
): Failure {
  return new Failure(402, 'card_error', message, {
    ...codes,
    ...(payment_intent && { payment_intent }),
  });
}
