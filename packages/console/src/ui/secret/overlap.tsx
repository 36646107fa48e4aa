import { useMutation } from '@tanstack/react-query';
import { Button } from '../button.tsx';
import { Countdown } from './countdown.tsx';
import { SelectField } from '../form/select-field.tsx';
import { ErrorMessage } from '../page/states.tsx';
import styles from './secret.module.css';

const HOUR_SEC = 3_600;
const DAY_SEC = 86_400;

const OVERLAPS = [
  { value: '0', label: 'It stops at once' },
  { value: String(HOUR_SEC), label: '1 hour' },
  { value: String(DAY_SEC), label: '24 hours' },
  { value: String(3 * DAY_SEC), label: '3 days' },
  { value: String(7 * DAY_SEC), label: '7 days' },
] as const;

/** How long the old secret works beside the new one. */
export function OverlapField() {
  return (
    <SelectField
      label="How long the current secret keeps working"
      name="overlap_sec"
      options={OVERLAPS}
      defaultValue={String(DAY_SEC)}
      description="Time to replace it everywhere. You can end it early."
    />
  );
}

export function overlapSecOf(values: Readonly<Record<string, string>>): number {
  return Number(values['overlap_sec']);
}

type OverlapProps = {
  /** What still works: "The previous client secret". */
  what: string;
  until: string;
  onEndEarly: () => Promise<unknown>;
  /** The overlap is over, by itself or early. */
  onOver: () => void;
};

/** How long the old secret still works, and the way to end it early. */
export function Overlap({ what, until, onEndEarly, onOver }: OverlapProps) {
  const end = useMutation({ mutationFn: onEndEarly, onSuccess: onOver });
  return (
    <>
      <div className={styles['actions']}>
        <p>
          {what} still works for <Countdown until={until} onEnd={onOver} />.
        </p>
        <Button
          isPending={end.isPending}
          onPress={() => {
            end.mutate();
          }}
        >
          End it now
        </Button>
      </div>
      {end.isError && <ErrorMessage error={end.error} />}
    </>
  );
}
