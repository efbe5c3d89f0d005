import { Link } from '@tanstack/react-router';

/** Leads to a receipt. */
export function ReceiptLink({ id }: { id: string }) {
  return (
    <Link to="/overview" search={{ view: 'auditor', receipt: id }} aria-label={`Receipt ${id}`}>
      Receipt
    </Link>
  );
}
