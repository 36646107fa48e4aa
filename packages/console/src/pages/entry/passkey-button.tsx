import { useIsMutating, useMutation } from '@tanstack/react-query';
import { ApiError } from '../../api/client.ts';
import type { Session } from '../../api/client.ts';
import { signInByPasskey } from '../../api/passkeys.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';

type PasskeyButtonProps = {
  label: string;
  /** The second step that the passkey completes; without a token, it replaces the password. */
  step: { sign_in_token?: string };
  variant?: 'primary' | 'secondary';
  onSignedIn: (session: Session) => void;
  onExpired?: () => void;
};

const SIGN_IN = ['passkey-sign-in'];

/** Whether a {@link PasskeyButton} was pressed, and the sign-in goes on. */
export function useIsSigningInByPasskey(): boolean {
  return useIsMutating({ mutationKey: SIGN_IN }) > 0;
}

/** Asks the browser for a passkey and signs in by it. */
export function PasskeyButton({
  label,
  step,
  variant = 'secondary',
  onSignedIn,
  onExpired,
}: PasskeyButtonProps) {
  const signIn = useMutation({
    mutationKey: SIGN_IN,
    mutationFn: () => signInByPasskey(step),
    onSuccess: onSignedIn,
    onError: (error) => {
      if (error instanceof ApiError && error.problem?.status === 401) onExpired?.();
    },
  });
  return (
    <>
      {signIn.isError && <ErrorMessage error={signIn.error} />}
      <Button
        variant={variant}
        isPending={signIn.isPending}
        onPress={() => {
          signIn.mutate();
        }}
      >
        {label}
      </Button>
    </>
  );
}
