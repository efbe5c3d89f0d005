import { Link } from '@tanstack/react-router';

/** The id of a receipt, which leads to the receipt. */
export function ReceiptLink({ id }: { id: string }) {
  return (
    <Link to="/overview" search={{ view: 'auditor', receipt: id }} aria-label={`Receipt ${id}`}>
      <code>{id}</code>
    </Link>
  );
}
