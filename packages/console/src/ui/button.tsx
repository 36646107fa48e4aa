import { Button as AriaButton } from 'react-aria-components';
import type { ButtonProps as AriaButtonProps } from 'react-aria-components';
import { isViewing } from '../api/viewing.ts';
import styles from './button.module.css';

type ButtonProps = Omit<AriaButtonProps, 'isPending' | 'className'> & {
  variant?: 'primary' | 'secondary' | 'danger' | 'quiet';
  /** At work: it keeps the focus and takes no second press. (React Aria's own announcement has no name.) */
  isPending?: boolean;
  /** It changes nothing of the account, so it works in a view (api/viewing.ts). */
  isReading?: boolean;
};

/** A button of at least 36 px. */
export function Button({
  variant = 'secondary',
  isPending = false,
  isReading = false,
  onPress,
  ...props
}: ButtonProps) {
  return (
    <AriaButton
      {...props}
      {...(onPress === undefined || isPending ? {} : { onPress })}
      {...(isViewing && !isReading ? { isDisabled: true } : {})}
      data-pending={isPending || undefined}
      className={`${styles['button'] ?? ''} ${styles[variant] ?? ''}`}
    />
  );
}
