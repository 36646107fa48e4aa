import Stripe from 'stripe';
import { Problem } from '@tollgate/http/problem';

/** @throws {Problem} payments_unavailable, since another attempt might succeed */
export async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Problem('payments_unavailable', { cause: error });
  }
}

export function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_missing')
    return undefined;
  throw error;
}

export function falseIfRefused(error: unknown): false {
  if (error instanceof Stripe.errors.StripeInvalidRequestError) return false;
  throw error;
}

/** @throws as `asked` */
export async function* askedAll<T>(listed: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* listed;
  } catch (error) {
    throw new Problem('payments_unavailable', { cause: error });
  }
}
