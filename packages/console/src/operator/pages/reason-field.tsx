import { TextField } from '../../ui/form/text-field.tsx';
import { REASON } from './queries.ts';

type ReasonFieldProps = {
  errors: Readonly<Record<string, string | undefined>>;
  /** As the API says of the operation. */
  isRequired?: boolean;
};

/** Why something is changed. Customers don't see it. */
export function ReasonField({ errors, isRequired = false }: ReasonFieldProps) {
  return (
    <TextField
      label={isRequired ? 'Reason' : 'Reason (optional)'}
      name={REASON}
      autoComplete="off"
      description="For the audit log. The customer doesn’t see it."
      error={errors[REASON]}
      maxLength={500}
      isRequired={isRequired}
    />
  );
}
