import { TextField } from '../../ui/form/text-field.tsx';
import { REASON } from '../api/reason.ts';

type ReasonFieldProps = {
  errors: Readonly<Record<string, string | undefined>>;
  /** As the API says of the operation. */
  isRequired?: boolean;
  /** Whether the mail about the change states it. */
  isMailed?: boolean;
  /** Of a change to one customer. */
  isOfCustomer?: boolean;
};

/** Why something is changed. */
export function ReasonField({
  errors,
  isRequired = false,
  isMailed = false,
  isOfCustomer = true,
}: ReasonFieldProps) {
  return (
    <TextField
      label={isRequired ? 'Reason' : 'Reason (optional)'}
      name={REASON}
      autoComplete="off"
      description={
        isMailed
          ? 'For the audit log and the mail to the owner.'
          : `For the audit log.${isOfCustomer ? ' The customer doesn’t see it.' : ''}`
      }
      error={errors[REASON]}
      maxLength={500}
      isRequired={isRequired}
    />
  );
}
