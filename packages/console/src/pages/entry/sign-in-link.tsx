import { Link } from '@tanstack/react-router';

export function SignInLink({ children }: { children: string }) {
  return (
    <Link to="/sign-in" search={{}}>
      {children}
    </Link>
  );
}
